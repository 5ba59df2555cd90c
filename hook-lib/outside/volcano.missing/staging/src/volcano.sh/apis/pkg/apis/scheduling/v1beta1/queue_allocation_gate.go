package v1beta1

// QueueAllocationGateKey is what Volcano 1.15 has besides the API of 1.14 (docs/design/scheduling-gates-queue-admission.md).
const QueueAllocationGateKey = GroupName + "/queue-allocation-gate"
