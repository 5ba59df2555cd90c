// Karpenter with the provider that it is tested with (kwok: Nodes without machines), which by itself knows of no
// device of any DRA driver. This one's instance types have the devices of ResourceSlices that a file lists, as a
// provider for real machines would have to describe them.
//
// CARDS_FILE names a file with a ResourceSliceList, as kubectl gives it. CARDS_INSTANCE_TYPES lists, separated by
// commas, the instance types that have those devices.
package main

import (
	"os"
	"strings"
	"unique"

	"github.com/samber/lo"
	resourcev1 "k8s.io/api/resource/v1"
	"sigs.k8s.io/yaml"

	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

func main() {
	ctx, op := operator.NewOperator()
	types := lo.Must(kwok.ConstructInstanceTypes(ctx))
	if file := os.Getenv("CARDS_FILE"); file != "" {
		var slices resourcev1.ResourceSliceList
		lo.Must0(yaml.Unmarshal(lo.Must(os.ReadFile(file)), &slices))
		describe(types, strings.Split(os.Getenv("CARDS_INSTANCE_TYPES"), ","), templates(slices.Items))
	}
	provider := kwok.NewCloudProvider(ctx, op.GetClient(), types)
	overlaid := overlay.Decorate(provider, op.GetClient(), op.InstanceTypeStore)
	repairs := lo.Must(health.NewRepairPolicyMatcher(ctx, overlaid))
	cluster := state.NewCluster(op.Clock, op.GetClient(), overlaid, state.WithRepairPolicyMatcher(repairs))
	op.WithControllers(ctx, controllers.NewControllers(ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder,
		overlaid, provider, cluster, op.InstanceTypeStore, op.PredictionStore)...).Start(ctx)
}

func describe(types []*cloudprovider.InstanceType, named []string, cards []*cloudprovider.ResourceSliceTemplate) {
	for _, each := range types {
		if lo.Contains(named, each.Name) {
			each.DynamicResources = cloudprovider.DynamicResources{ResourceSliceTemplates: cards}
		}
	}
}

// A template has no taints: Karpenter v1.15 knows of none.
func templates(slices []resourcev1.ResourceSlice) []*cloudprovider.ResourceSliceTemplate {
	return lo.Map(slices, func(slice resourcev1.ResourceSlice, _ int) *cloudprovider.ResourceSliceTemplate {
		return &cloudprovider.ResourceSliceTemplate{
			Driver:         unique.Make(slice.Spec.Driver),
			Pool:           cloudprovider.ResourcePool{Name: unique.Make("cards")},
			SharedCounters: slice.Spec.SharedCounters,
			Devices: lo.Map(slice.Spec.Devices, func(device resourcev1.Device, _ int) cloudprovider.Device {
				return cloudprovider.Device{
					Name:                     unique.Make(device.Name),
					Attributes:               device.Attributes,
					Capacity:                 device.Capacity,
					AllowMultipleAllocations: lo.FromPtr(device.AllowMultipleAllocations),
					ConsumesCounters:         device.ConsumesCounters,
				}
			}),
		}
	})
}
