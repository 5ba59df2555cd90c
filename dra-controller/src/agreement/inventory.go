package main

import (
	"fmt"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	driver = "gpu.partita.dev"
	gib    = int64(1) << 30
)

// What the controller publishes: ClassPlan and, for nodes that kube-scheduler allocates, SlicePlan. The order of devices is another one, which does
// not matter to whether there is a place.

var classes = map[string]string{
	driver:            modeIs("shared"),
	"whole." + driver: modeIs("whole"),
	"mig." + driver:   modeIs("mig"),
	"h200." + driver:  modeIs("shared") + " && " + own("model") + ` == "h200"`,
	"l40s." + driver:  modeIs("shared") + " && " + own("model") + ` == "l40s"`,
}

// customClasses are what somebody else may have made: they select a card in every mode.
var customClasses = map[string]string{
	"any.example.com":  fmt.Sprintf("device.driver == %q", driver),
	"h200.example.com": own("model") + ` == "h200"`,
}

func own(attribute string) string { return fmt.Sprintf("device.attributes[%q].%s", driver, attribute) }

func modeIs(mode string) string {
	return fmt.Sprintf("device.driver == %q && %s == %q", driver, own("mode"), mode)
}

type product struct {
	name, architecture, capability string
	memory                         int64
}

var products = map[string]product{
	"h200": {"NVIDIA H200", "Hopper", "9.0.0", 141 * gib},
	"l40s": {"NVIDIA L40S", "Ada Lovelace", "8.9.0", 48 * gib},
}

// profile is a way to make MIG instances of an H200.
type profile struct {
	name                      string
	memory                    int64 // GiB
	processors, count, slices int64 // slices of memory
	starts                    []int64
}

func (p profile) label() string { return strings.NewReplacer(".", "-", "+", "-").Replace(p.name) }

func (p profile) isLimited() bool { return p.count < int64(len(p.starts)) }

const memorySlices = 8

var profiles = []profile{
	{"1g.18gb", 16, 16, 7, 1, []int64{0, 1, 2, 3, 4, 5, 6}},
	{"1g.18gb+me", 16, 16, 1, 1, []int64{0, 1, 2, 3, 4, 5, 6}},
	{"1g.35gb", 32, 26, 4, 2, []int64{0, 2, 4, 6}},
	{"2g.35gb", 32, 32, 3, 2, []int64{0, 2, 4}},
	{"3g.71gb", 69, 60, 2, 4, []int64{0, 4}},
	{"4g.71gb", 69, 64, 1, 4, []int64{0}},
	{"7g.141gb", 140, 132, 1, 8, []int64{0}},
}

type node struct {
	Name  string  `json:"name"`
	Mig   bool    `json:"mig,omitempty"` // H200s are published as MIG instances, too
	Cards []card  `json:"cards"`
	Taken []taken `json:"taken,omitempty"`
}

func (n node) pool() string { return n.Name + "/gpu" }

type card struct {
	Model     string `json:"model"`
	Numa      *int64 `json:"numa,omitempty"`
	Nvlink    string `json:"nvlink,omitempty"`
	Unhealthy string `json:"unhealthy,omitempty"` // why
}

// taken is what a claim holds: a share, a MIG instance, or else the card as a whole.
type taken struct {
	Card    int    `json:"card"`
	Memory  int64  `json:"memory,omitempty"` // bytes
	Cores   int64  `json:"cores,omitempty"`  // percent
	Profile string `json:"profile,omitempty"`
	Start   int64  `json:"start,omitempty"` // first memory slice
}

func (t taken) isShare() bool { return t.Memory > 0 }

func (t taken) device() string {
	switch {
	case t.isShare():
		return sharedName(t.Card)
	case t.Profile != "":
		return instanceName(t.Card, t.Profile, t.Start)
	default:
		return wholeName(t.Card)
	}
}

func (t taken) capacity() map[resourceapi.QualifiedName]resource.Quantity {
	return map[resourceapi.QualifiedName]resource.Quantity{"memory": *bytes(t.Memory), "cores": *percent(t.Cores)}
}

func wholeName(card int) string  { return fmt.Sprintf("gpu-%d", card) }
func sharedName(card int) string { return wholeName(card) + "-shared" }
func instanceName(card int, label string, start int64) string {
	return fmt.Sprintf("%s-mig-%s-%d", wholeName(card), label, start)
}

func bytes(n int64) *resource.Quantity   { return resource.NewQuantity(n, resource.BinarySI) }
func percent(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.DecimalSI) }

// slicesOf makes the specs of a node's slices: devices, then counters by which the ways to take a card exclude each other.
func slicesOf(n node) []resourceapi.ResourceSliceSpec {
	spec := resourceapi.ResourceSliceSpec{
		Driver: driver, NodeName: &n.Name, Pool: resourceapi.ResourcePool{Name: n.pool(), ResourceSliceCount: 2}}
	devices, counters := spec, spec
	for i, c := range n.Cards {
		devices.Devices = append(devices.Devices, c.device(n, i, wholeName(i), "whole"), c.device(n, i, sharedName(i), "shared"))
		if n.cuts(c) {
			for _, p := range profiles {
				for _, start := range p.starts {
					devices.Devices = append(devices.Devices, c.instance(n, i, p, start))
				}
			}
		}
		counters.SharedCounters = append(counters.SharedCounters, resourceapi.CounterSet{Name: wholeName(i), Counters: n.counters(c)})
	}
	if len(devices.Devices) <= 32 { // as many as a ResourcePoolStatusRequest counts
		for _, d := range devices.Devices {
			d.Attributes["partitionType"] = text(d.Name)
		}
	}
	return []resourceapi.ResourceSliceSpec{devices, counters}
}

// cuts says whether MIG instances can be made of the card.
func (n node) cuts(c card) bool { return n.Mig && c.Model == "h200" }

// counters are all of a card: its memory slices and profiles of which there can be fewer than places, or the card itself.
func (n node) counters(c card) map[string]resourceapi.Counter {
	if !n.cuts(c) {
		return map[string]resourceapi.Counter{"card": {Value: *percent(1)}}
	}
	all := sliceCounters(0, memorySlices)
	for _, p := range profiles {
		if p.isLimited() {
			all["profile-"+p.label()] = resourceapi.Counter{Value: *percent(p.count)}
		}
	}
	return all
}

func sliceCounters(start, slices int64) map[string]resourceapi.Counter {
	counters := map[string]resourceapi.Counter{}
	for slice := start; slice < start+slices; slice++ {
		counters[fmt.Sprintf("memory-slice-%d", slice)] = resourceapi.Counter{Value: *percent(1)}
	}
	return counters
}

func (c card) instance(n node, index int, p profile, start int64) resourceapi.Device {
	d := c.device(n, index, instanceName(index, p.label(), start), "mig")
	d.Attributes["type"], d.Attributes["profile"], d.Attributes["placement"] = text("mig"), text(p.name), number(start)
	d.Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: *bytes(p.memory * gib)}, "multiprocessors": {Value: *percent(p.processors)}}
	counters := sliceCounters(start, p.slices)
	if p.isLimited() {
		counters["profile-"+p.label()] = resourceapi.Counter{Value: *percent(1)}
	}
	d.ConsumesCounters[0].Counters = counters
	return d
}

func (c card) device(n node, index int, name, mode string) resourceapi.Device {
	p, memory, cores := products[c.Model], products[c.Model].memory, int64(100)
	d := resourceapi.Device{
		Name: name,
		Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{
			"type":                            text("gpu"),
			"mode":                            text(mode),
			"uuid":                            text(fmt.Sprintf("GPU-%s-%d", n.Name, index)),
			"productName":                     text(p.name),
			"model":                           text(c.Model),
			"brand":                           text("Nvidia"),
			"architecture":                    text(p.architecture),
			"cudaComputeCapability":           semver(p.capability),
			"driverVersion":                   semver("580.95.5"),
			"cudaDriverVersion":               semver("13.0.0"),
			"index":                           number(int64(index)),
			"minor":                           number(int64(index)),
			"pciBusID":                        text(fmt.Sprintf("0000:%02x:00.0", index)),
			"resource.kubernetes.io/pcieRoot": text(fmt.Sprintf("pci0000:%02x", index/2)),
		},
		Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: *bytes(memory)}},
		ConsumesCounters: []resourceapi.DeviceCounterConsumption{{
			CounterSet: wholeName(index), Counters: n.counters(c)}},
	}
	if c.Numa != nil {
		d.Attributes["resource.kubernetes.io/numaNode"] = number(*c.Numa)
	}
	if c.Nvlink != "" {
		d.Attributes["nvlinkDomain"] = text(c.Nvlink)
	}
	if c.Unhealthy != "" {
		d.Taints = []resourceapi.DeviceTaint{{Key: driver + "/unhealthy", Value: c.Unhealthy, Effect: resourceapi.DeviceTaintEffectNoSchedule}}
	}
	if mode == "shared" {
		multiple := true
		d.AllowMultipleAllocations = &multiple
		d.Capacity["memory"] = resourceapi.DeviceCapacity{Value: *bytes(memory), RequestPolicy: &resourceapi.CapacityRequestPolicy{
			Default:    bytes(memory),
			ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: bytes(1 << 20), Max: bytes(memory)},
		}}
		d.Capacity["cores"] = resourceapi.DeviceCapacity{Value: *percent(cores), RequestPolicy: &resourceapi.CapacityRequestPolicy{
			Default:    percent(0),
			ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: percent(0), Max: percent(cores), Step: percent(1)},
		}}
	}
	return d
}

func text(value string) resourceapi.DeviceAttribute {
	return resourceapi.DeviceAttribute{StringValue: &value}
}
func semver(value string) resourceapi.DeviceAttribute {
	return resourceapi.DeviceAttribute{VersionValue: &value}
}
func number(value int64) resourceapi.DeviceAttribute {
	return resourceapi.DeviceAttribute{IntValue: &value}
}

// exampleNode has everything that a card can have or lack.
func exampleNode() node {
	zero := int64(0)
	return node{Name: "example", Mig: true, Cards: []card{
		{Model: "h200", Numa: &zero, Nvlink: "nvl-0"}, {Model: "l40s"}, {Model: "l40s", Numa: &zero, Unhealthy: "Xid-79"}}}
}
