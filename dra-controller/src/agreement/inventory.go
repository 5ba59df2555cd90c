package main

import (
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	driver = "gpu.partita.dev"
	gib    = int64(1) << 30
)

// What the controller publishes: ClassPlan and, for nodes that kube-scheduler allocates, SlicePlan.

var classes = map[string]string{
	driver:            modeIs("shared"),
	"whole." + driver: modeIs("whole"),
	"mig." + driver:   modeIs("mig"),
	"h200." + driver:  modeIs("shared") + " && " + own("model") + ` == "h200"`,
	"l40s." + driver:  modeIs("shared") + " && " + own("model") + ` == "l40s"`,
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

type node struct {
	Name  string  `json:"name"`
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

// taken is what a claim holds: the card as a whole, if Memory is 0.
type taken struct {
	Card   int   `json:"card"`
	Memory int64 `json:"memory,omitempty"` // bytes
	Cores  int64 `json:"cores,omitempty"`  // percent
}

func (t taken) capacity() map[resourceapi.QualifiedName]resource.Quantity {
	return map[resourceapi.QualifiedName]resource.Quantity{"memory": *bytes(t.Memory), "cores": *percent(t.Cores)}
}

func wholeName(card int) string  { return fmt.Sprintf("gpu-%d", card) }
func sharedName(card int) string { return wholeName(card) + "-shared" }

func bytes(n int64) *resource.Quantity   { return resource.NewQuantity(n, resource.BinarySI) }
func percent(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.DecimalSI) }

// slicesOf makes the specs of a node's slices: devices, then counters by which the two ways to take a card exclude each other.
func slicesOf(n node) []resourceapi.ResourceSliceSpec {
	spec := resourceapi.ResourceSliceSpec{
		Driver: driver, NodeName: &n.Name, Pool: resourceapi.ResourcePool{Name: n.pool(), ResourceSliceCount: 2}}
	devices, counters := spec, spec
	for i, c := range n.Cards {
		devices.Devices = append(devices.Devices, c.device(n, i, wholeName(i), "whole"), c.device(n, i, sharedName(i), "shared"))
		counters.SharedCounters = append(counters.SharedCounters,
			resourceapi.CounterSet{Name: wholeName(i), Counters: map[string]resourceapi.Counter{"card": {Value: *percent(1)}}})
	}
	return []resourceapi.ResourceSliceSpec{devices, counters}
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
			CounterSet: wholeName(index), Counters: map[string]resourceapi.Counter{"card": {Value: *percent(1)}}}},
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
	return node{Name: "example", Cards: []card{
		{Model: "h200", Numa: &zero, Nvlink: "nvl-0"}, {Model: "l40s"}, {Model: "l40s", Numa: &zero, Unhealthy: "Xid-79"}}}
}
