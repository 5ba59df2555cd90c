package main

import (
	"fmt"
	"math/rand/v2"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

type generator struct{ *rand.Rand }

func (g generator) percent(n int) bool { return g.IntN(100) < n }

func pick[T any](g generator, from []T) T { return from[g.IntN(len(from))] }

func (g generator) nodes() []node {
	nodes := make([]node, 1+g.IntN(3))
	for n := range nodes {
		nodes[n] = g.node(fmt.Sprintf("node-%d", n))
	}
	return nodes
}

func (g generator) node(name string) node {
	n := node{Name: name, Mig: g.percent(30)}
	mixed, model, located := g.percent(30), pick(g, []string{"h200", "l40s"}), g.percent(85)
	most := 4
	if n.Mig {
		most, model = 2, "h200" // there are many devices of a card to try
	}
	for i := range 1 + g.IntN(most) {
		c := card{Model: model}
		if mixed {
			c.Model = pick(g, []string{"h200", "l40s"})
		}
		if located {
			numa := int64(i / 2)
			c.Numa = &numa
		}
		if c.Model == "h200" && g.percent(85) {
			c.Nvlink = fmt.Sprintf("nvl-%d", i/2)
		}
		if g.percent(10) {
			c.Unhealthy = pick(g, []string{"Xid-79", "Xid-48"})
		}
		n.Cards = append(n.Cards, c)
		if n.cuts(c) && g.percent(40) {
			n.Taken = append(n.Taken, g.instances(i)...)
		} else {
			n.Taken = append(n.Taken, g.taken(i, products[c.Model].memory)...)
		}
	}
	return n
}

// instances are MIG instances that can be had together.
func (g generator) instances(card int) (all []taken) {
	used, made := map[int64]bool{}, map[string]int64{}
	for range 1 + g.IntN(5) {
		p := pick(g, profiles)
		start, free := pick(g, p.starts), made[p.name] < p.count
		for slice := start; slice < start+p.slices; slice++ {
			free = free && !used[slice]
		}
		if free {
			for slice := start; slice < start+p.slices; slice++ {
				used[slice] = true
			}
			made[p.name]++
			all = append(all, taken{Card: card, Profile: p.label(), Start: start})
		}
	}
	return all
}

func (g generator) taken(card int, memory int64) (all []taken) {
	switch kind := g.IntN(100); {
	case kind < 50: // nothing
	case kind < 62:
		all = append(all, taken{Card: card})
	default:
		cores := int64(100)
		for range 1 + g.IntN(3) {
			share := taken{Card: card, Memory: int64(1+g.IntN(30)) * gib, Cores: int64(g.IntN(8) * 10)}
			if share.Memory <= memory && share.Cores <= cores {
				all = append(all, share)
				memory, cores = memory-share.Memory, cores-share.Cores
			}
		}
	}
	return all
}

func (g generator) claim() (claim resourceapi.DeviceClaim) {
	if g.percent(12) {
		return g.monitor()
	}
	for i := range pick(g, []int{1, 1, 1, 1, 1, 2, 2, 2, 3}) {
		request := resourceapi.DeviceRequest{Name: fmt.Sprintf("r%d", i)}
		if g.percent(30) {
			for s := range 2 + g.IntN(2) {
				request.FirstAvailable = append(request.FirstAvailable, g.part(fmt.Sprintf("s%d", s)))
			}
		} else {
			part := g.part("")
			request.Exactly = &resourceapi.ExactDeviceRequest{
				DeviceClassName: part.DeviceClassName, AllocationMode: part.AllocationMode, Count: part.Count,
				Selectors: part.Selectors, Capacity: part.Capacity, Tolerations: part.Tolerations}
		}
		claim.Requests = append(claim.Requests, request)
	}
	if g.percent(40) {
		claim.Constraints = append(claim.Constraints, g.constraint(claim.Requests))
	}
	return claim
}

// monitor is a claim of a single request with adminAccess.
func (g generator) monitor() (claim resourceapi.DeviceClaim) {
	part, yes := g.part(""), true
	claim.Requests = []resourceapi.DeviceRequest{{Name: "r0", Exactly: &resourceapi.ExactDeviceRequest{
		DeviceClassName: part.DeviceClassName, AllocationMode: part.AllocationMode, Count: part.Count,
		Selectors: part.Selectors, Capacity: part.Capacity, Tolerations: part.Tolerations, AdminAccess: &yes}}}
	if g.percent(40) {
		claim.Constraints = append(claim.Constraints, g.constraint(claim.Requests))
	}
	return claim
}

func isMonitor(claim resourceapi.DeviceClaim) bool {
	return claim.Requests[0].Exactly != nil && claim.Requests[0].Exactly.AdminAccess != nil
}

func (g generator) part(name string) resourceapi.DeviceSubRequest {
	whole, mig := "whole."+driver, "mig."+driver
	part := resourceapi.DeviceSubRequest{Name: name, DeviceClassName: pick(g, []string{
		whole, whole, driver, driver, driver, "h200." + driver, "l40s." + driver, mig, mig, "any.example.com", "h200.example.com"})}
	if g.percent(12) {
		part.AllocationMode = resourceapi.DeviceAllocationModeAll
	} else {
		part.AllocationMode, part.Count = resourceapi.DeviceAllocationModeExactCount, pick(g, []int64{1, 1, 1, 1, 2, 2, 3, 5})
	}
	part.Capacity = g.capacity(part.DeviceClassName != whole && part.DeviceClassName != mig)
	if g.percent(30) {
		part.Selectors = []resourceapi.DeviceSelector{selector(pick(g, expressions))}
	}
	if part.DeviceClassName == mig && g.percent(70) {
		part.Selectors = append(part.Selectors, selector(own("profile")+fmt.Sprintf(" == %q", pick(g, profiles).name)))
	}
	if g.percent(20) {
		part.Tolerations = []resourceapi.DeviceToleration{pick(g, tolerations)}
	}
	return part
}

func (g generator) capacity(share bool) *resourceapi.CapacityRequirements {
	requests := map[resourceapi.QualifiedName]resource.Quantity{}
	if g.percent(85) && (share || g.percent(20)) {
		requests["memory"] = resource.MustParse(pick(g, []string{"1", "1500m", "2Gi", "8Gi", "10G", "18Gi", "24Gi", "48Gi", "60Gi", "141Gi", "150Gi"}))
	}
	if g.percent(70) && (share || g.percent(4)) {
		requests["cores"] = resource.MustParse(pick(g, []string{"0", "10", "12500m", "20", "30", "40", "50", "100", "101"}))
	}
	if len(requests) == 0 {
		return nil
	}
	return &resourceapi.CapacityRequirements{Requests: requests}
}

var expressions = []string{
	own("model") + ` == "h200"`,
	own("productName") + `.startsWith("NVIDIA L")`,
	own("model") + ` in ["h200", "b200"]`,
	own("index") + " < 2",
	own("index") + " % 2 == 1",
	own("uuid") + `.endsWith("-0")`,
	own("architecture") + `.lowerAscii() == "hopper"`,
	own("cudaComputeCapability") + `.isGreaterThan(semver("8.9.0"))`,
	own("driverVersion") + `.compareTo(semver("580.0.0")) >= 0`,
	`device.capacity["` + driver + `"].memory.compareTo(quantity("100Gi")) < 0`,
	`device.capacity["` + driver + `"].memory.isGreaterThan(quantity("47G"))`,
	`device.attributes["resource.kubernetes.io"].numaNode == 0`, // fails where it is not known
	own("nvlinkDomain") + ` == "nvl-0"`,                         // likewise
	`"nvlinkDomain" in device.attributes["` + driver + `"]`,
	`device.attributes["` + driver + `"].?nvlinkDomain.orValue("") == "nvl-1"`,
	`has(device.attributes["resource.kubernetes.io"].numaNode) ? device.attributes["resource.kubernetes.io"].numaNode == 1 : ` + own("index") + " == 0",
	"!device.allowMultipleAllocations || " + own("minor") + " > 0",
	`["0000:00:00.0", "0000:03:00.0"].exists(bus, bus == ` + own("pciBusID") + ")",
	"[1, int(" + own("index") + ")].max() < 2",
	"[2, 0].indexOf(int(" + own("index") + ")) == 0",
	`device.attributes["` + driver + `"].exists(name, value, name == "nvlinkDomain" && value == "nvl-0")`,
	`cel.bind(a, device.attributes["` + driver + `"], a.brand == "Nvidia" && a.type == "gpu" && a.index != 1)`,
}

func selector(expression string) resourceapi.DeviceSelector {
	return resourceapi.DeviceSelector{CEL: &resourceapi.CELDeviceSelector{Expression: expression}}
}

var tolerations = []resourceapi.DeviceToleration{
	{Operator: resourceapi.DeviceTolerationOpExists},
	{Key: driver + "/unhealthy", Operator: resourceapi.DeviceTolerationOpExists},
	{Key: driver + "/unhealthy", Operator: resourceapi.DeviceTolerationOpEqual, Value: "Xid-79"},
	{Key: driver + "/unhealthy", Operator: resourceapi.DeviceTolerationOpExists, Effect: resourceapi.DeviceTaintEffectNoSchedule},
	{Key: driver + "/unhealthy", Operator: resourceapi.DeviceTolerationOpExists, Effect: resourceapi.DeviceTaintEffectNoExecute},
	{Key: "example.com/other", Operator: resourceapi.DeviceTolerationOpExists},
}

func (g generator) constraint(requests []resourceapi.DeviceRequest) (constraint resourceapi.DeviceConstraint) {
	if len(requests) > 1 && g.percent(50) {
		request := pick(g, requests)
		constraint.Requests = []string{request.Name}
		if len(request.FirstAvailable) > 0 && g.percent(50) {
			constraint.Requests = []string{request.Name + "/" + request.FirstAvailable[0].Name}
		}
	}
	if g.percent(60) {
		attribute := resourceapi.FullyQualifiedName(pick(g, []string{
			"resource.kubernetes.io/numaNode", "resource.kubernetes.io/pcieRoot", driver + "/model", driver + "/mode", driver + "/nvlinkDomain", driver + "/architecture"}))
		constraint.MatchAttribute = &attribute
	} else {
		attribute := resourceapi.FullyQualifiedName(pick(g, []string{
			"resource.kubernetes.io/numaNode", driver + "/uuid", driver + "/uuid", driver + "/index", driver + "/model", driver + "/cudaComputeCapability"}))
		constraint.DistinctAttribute = &attribute
	}
	return constraint
}
