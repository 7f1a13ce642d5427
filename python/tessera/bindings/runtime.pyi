# Type stubs, by tools/gen_bindings.py. Do not edit.
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, SupportsInt

from ._types import CUDAError, Handle, KernelParams, Pointer, Record, Text
from ._types import nvJitLinkError, nvvmError

CUDART_VERSION: int
cudaHostAllocDefault: int
cudaHostAllocPortable: int
cudaHostAllocMapped: int
cudaHostAllocWriteCombined: int
cudaHostRegisterDefault: int
cudaHostRegisterPortable: int
cudaHostRegisterMapped: int
cudaHostRegisterIoMemory: int
cudaHostRegisterReadOnly: int
cudaPeerAccessDefault: int
cudaStreamDefault: int
cudaStreamNonBlocking: int
cudaStreamLegacy: int
cudaStreamPerThread: int
cudaEventDefault: int
cudaEventBlockingSync: int
cudaEventDisableTiming: int
cudaEventInterprocess: int
cudaEventRecordDefault: int
cudaEventRecordExternal: int
cudaEventWaitDefault: int
cudaEventWaitExternal: int
cudaDeviceScheduleAuto: int
cudaDeviceScheduleSpin: int
cudaDeviceScheduleYield: int
cudaDeviceScheduleBlockingSync: int
cudaDeviceBlockingSync: int
cudaDeviceScheduleMask: int
cudaDeviceMapHost: int
cudaDeviceLmemResizeToMax: int
cudaDeviceSyncMemops: int
cudaDeviceMask: int
cudaArrayDefault: int
cudaArrayLayered: int
cudaArraySurfaceLoadStore: int
cudaArrayCubemap: int
cudaArrayTextureGather: int
cudaArrayColorAttachment: int
cudaArraySparse: int
cudaArrayDeferredMapping: int
cudaIpcMemLazyEnablePeerAccess: int
cudaMemAttachGlobal: int
cudaMemAttachHost: int
cudaMemAttachSingle: int
cudaOccupancyDefault: int
cudaOccupancyDisableCachingOverride: int
cudaCpuDeviceId: int
cudaInvalidDeviceId: int
cudaInitDeviceFlagsAreValid: int
cudaArraySparsePropertiesSingleMipTail: int
cudaMemPoolCreateUsageHwDecompress: int
CUDA_IPC_HANDLE_SIZE: int
cudaExternalMemoryDedicated: int
cudaExternalSemaphoreSignalSkipNvSciBufMemSync: int
cudaExternalSemaphoreWaitSkipNvSciBufMemSync: int
cudaNvSciSyncAttrSignal: int
cudaNvSciSyncAttrWait: int
cudaGraphKernelNodePortDefault: int
cudaGraphKernelNodePortProgrammatic: int
cudaGraphKernelNodePortLaunchCompletion: int
cudaStreamAttributeAccessPolicyWindow: int
cudaStreamAttributeSynchronizationPolicy: int
cudaStreamAttributeMemSyncDomainMap: int
cudaStreamAttributeMemSyncDomain: int
cudaStreamAttributePriority: int
cudaKernelNodeAttributeAccessPolicyWindow: int
cudaKernelNodeAttributeCooperative: int
cudaKernelNodeAttributePriority: int
cudaKernelNodeAttributeClusterDimension: int
cudaKernelNodeAttributeClusterSchedulingPolicyPreference: int
cudaKernelNodeAttributeMemSyncDomainMap: int
cudaKernelNodeAttributeMemSyncDomain: int
cudaKernelNodeAttributePreferredSharedMemoryCarveout: int
cudaKernelNodeAttributeDeviceUpdatableKernelNode: int
cudaKernelNodeAttributeNvlinkUtilCentricScheduling: int
CUDA_EGL_MAX_PLANES: int
class cudaRoundMode(IntEnum):
    cudaRoundNearest = 0
    cudaRoundZero = 1
    cudaRoundPosInf = 2
    cudaRoundMinInf = 3
class cudaError_t(IntEnum):
    cudaSuccess = 0
    cudaErrorInvalidValue = 1
    cudaErrorMemoryAllocation = 2
    cudaErrorInitializationError = 3
    cudaErrorCudartUnloading = 4
    cudaErrorProfilerDisabled = 5
    cudaErrorProfilerNotInitialized = 6
    cudaErrorProfilerAlreadyStarted = 7
    cudaErrorProfilerAlreadyStopped = 8
    cudaErrorInvalidConfiguration = 9
    cudaErrorInvalidPitchValue = 12
    cudaErrorInvalidSymbol = 13
    cudaErrorInvalidHostPointer = 16
    cudaErrorInvalidDevicePointer = 17
    cudaErrorInvalidTexture = 18
    cudaErrorInvalidTextureBinding = 19
    cudaErrorInvalidChannelDescriptor = 20
    cudaErrorInvalidMemcpyDirection = 21
    cudaErrorAddressOfConstant = 22
    cudaErrorTextureFetchFailed = 23
    cudaErrorTextureNotBound = 24
    cudaErrorSynchronizationError = 25
    cudaErrorInvalidFilterSetting = 26
    cudaErrorInvalidNormSetting = 27
    cudaErrorMixedDeviceExecution = 28
    cudaErrorNotYetImplemented = 31
    cudaErrorMemoryValueTooLarge = 32
    cudaErrorStubLibrary = 34
    cudaErrorInsufficientDriver = 35
    cudaErrorCallRequiresNewerDriver = 36
    cudaErrorInvalidSurface = 37
    cudaErrorDuplicateVariableName = 43
    cudaErrorDuplicateTextureName = 44
    cudaErrorDuplicateSurfaceName = 45
    cudaErrorDevicesUnavailable = 46
    cudaErrorIncompatibleDriverContext = 49
    cudaErrorMissingConfiguration = 52
    cudaErrorPriorLaunchFailure = 53
    cudaErrorLaunchMaxDepthExceeded = 65
    cudaErrorLaunchFileScopedTex = 66
    cudaErrorLaunchFileScopedSurf = 67
    cudaErrorSyncDepthExceeded = 68
    cudaErrorLaunchPendingCountExceeded = 69
    cudaErrorInvalidDeviceFunction = 98
    cudaErrorNoDevice = 100
    cudaErrorInvalidDevice = 101
    cudaErrorDeviceNotLicensed = 102
    cudaErrorSoftwareValidityNotEstablished = 103
    cudaErrorStartupFailure = 127
    cudaErrorInvalidKernelImage = 200
    cudaErrorDeviceUninitialized = 201
    cudaErrorMapBufferObjectFailed = 205
    cudaErrorUnmapBufferObjectFailed = 206
    cudaErrorArrayIsMapped = 207
    cudaErrorAlreadyMapped = 208
    cudaErrorNoKernelImageForDevice = 209
    cudaErrorAlreadyAcquired = 210
    cudaErrorNotMapped = 211
    cudaErrorNotMappedAsArray = 212
    cudaErrorNotMappedAsPointer = 213
    cudaErrorECCUncorrectable = 214
    cudaErrorUnsupportedLimit = 215
    cudaErrorDeviceAlreadyInUse = 216
    cudaErrorPeerAccessUnsupported = 217
    cudaErrorInvalidPtx = 218
    cudaErrorInvalidGraphicsContext = 219
    cudaErrorNvlinkUncorrectable = 220
    cudaErrorJitCompilerNotFound = 221
    cudaErrorUnsupportedPtxVersion = 222
    cudaErrorJitCompilationDisabled = 223
    cudaErrorUnsupportedExecAffinity = 224
    cudaErrorUnsupportedDevSideSync = 225
    cudaErrorContained = 226
    cudaErrorInvalidSource = 300
    cudaErrorFileNotFound = 301
    cudaErrorSharedObjectSymbolNotFound = 302
    cudaErrorSharedObjectInitFailed = 303
    cudaErrorOperatingSystem = 304
    cudaErrorInvalidResourceHandle = 400
    cudaErrorIllegalState = 401
    cudaErrorLossyQuery = 402
    cudaErrorSymbolNotFound = 500
    cudaErrorNotReady = 600
    cudaErrorIllegalAddress = 700
    cudaErrorLaunchOutOfResources = 701
    cudaErrorLaunchTimeout = 702
    cudaErrorLaunchIncompatibleTexturing = 703
    cudaErrorPeerAccessAlreadyEnabled = 704
    cudaErrorPeerAccessNotEnabled = 705
    cudaErrorSetOnActiveProcess = 708
    cudaErrorContextIsDestroyed = 709
    cudaErrorAssert = 710
    cudaErrorTooManyPeers = 711
    cudaErrorHostMemoryAlreadyRegistered = 712
    cudaErrorHostMemoryNotRegistered = 713
    cudaErrorHardwareStackError = 714
    cudaErrorIllegalInstruction = 715
    cudaErrorMisalignedAddress = 716
    cudaErrorInvalidAddressSpace = 717
    cudaErrorInvalidPc = 718
    cudaErrorLaunchFailure = 719
    cudaErrorCooperativeLaunchTooLarge = 720
    cudaErrorTensorMemoryLeak = 721
    cudaErrorNotPermitted = 800
    cudaErrorNotSupported = 801
    cudaErrorSystemNotReady = 802
    cudaErrorSystemDriverMismatch = 803
    cudaErrorCompatNotSupportedOnDevice = 804
    cudaErrorMpsConnectionFailed = 805
    cudaErrorMpsRpcFailure = 806
    cudaErrorMpsServerNotReady = 807
    cudaErrorMpsMaxClientsReached = 808
    cudaErrorMpsMaxConnectionsReached = 809
    cudaErrorMpsClientTerminated = 810
    cudaErrorCdpNotSupported = 811
    cudaErrorCdpVersionMismatch = 812
    cudaErrorStreamCaptureUnsupported = 900
    cudaErrorStreamCaptureInvalidated = 901
    cudaErrorStreamCaptureMerge = 902
    cudaErrorStreamCaptureUnmatched = 903
    cudaErrorStreamCaptureUnjoined = 904
    cudaErrorStreamCaptureIsolation = 905
    cudaErrorStreamCaptureImplicit = 906
    cudaErrorCapturedEvent = 907
    cudaErrorStreamCaptureWrongThread = 908
    cudaErrorTimeout = 909
    cudaErrorGraphExecUpdateFailure = 910
    cudaErrorExternalDevice = 911
    cudaErrorInvalidClusterSize = 912
    cudaErrorFunctionNotLoaded = 913
    cudaErrorInvalidResourceType = 914
    cudaErrorInvalidResourceConfiguration = 915
    cudaErrorUnknown = 999
    cudaErrorApiFailureBase = 10000
class cudaChannelFormatKind(IntEnum):
    cudaChannelFormatKindSigned = 0
    cudaChannelFormatKindUnsigned = 1
    cudaChannelFormatKindFloat = 2
    cudaChannelFormatKindNone = 3
    cudaChannelFormatKindNV12 = 4
    cudaChannelFormatKindUnsignedNormalized8X1 = 5
    cudaChannelFormatKindUnsignedNormalized8X2 = 6
    cudaChannelFormatKindUnsignedNormalized8X4 = 7
    cudaChannelFormatKindUnsignedNormalized16X1 = 8
    cudaChannelFormatKindUnsignedNormalized16X2 = 9
    cudaChannelFormatKindUnsignedNormalized16X4 = 10
    cudaChannelFormatKindSignedNormalized8X1 = 11
    cudaChannelFormatKindSignedNormalized8X2 = 12
    cudaChannelFormatKindSignedNormalized8X4 = 13
    cudaChannelFormatKindSignedNormalized16X1 = 14
    cudaChannelFormatKindSignedNormalized16X2 = 15
    cudaChannelFormatKindSignedNormalized16X4 = 16
    cudaChannelFormatKindUnsignedBlockCompressed1 = 17
    cudaChannelFormatKindUnsignedBlockCompressed1SRGB = 18
    cudaChannelFormatKindUnsignedBlockCompressed2 = 19
    cudaChannelFormatKindUnsignedBlockCompressed2SRGB = 20
    cudaChannelFormatKindUnsignedBlockCompressed3 = 21
    cudaChannelFormatKindUnsignedBlockCompressed3SRGB = 22
    cudaChannelFormatKindUnsignedBlockCompressed4 = 23
    cudaChannelFormatKindSignedBlockCompressed4 = 24
    cudaChannelFormatKindUnsignedBlockCompressed5 = 25
    cudaChannelFormatKindSignedBlockCompressed5 = 26
    cudaChannelFormatKindUnsignedBlockCompressed6H = 27
    cudaChannelFormatKindSignedBlockCompressed6H = 28
    cudaChannelFormatKindUnsignedBlockCompressed7 = 29
    cudaChannelFormatKindUnsignedBlockCompressed7SRGB = 30
    cudaChannelFormatKindUnsignedNormalized1010102 = 31
class cudaMemoryType(IntEnum):
    cudaMemoryTypeUnregistered = 0
    cudaMemoryTypeHost = 1
    cudaMemoryTypeDevice = 2
    cudaMemoryTypeManaged = 3
class cudaMemcpyKind(IntEnum):
    cudaMemcpyHostToHost = 0
    cudaMemcpyHostToDevice = 1
    cudaMemcpyDeviceToHost = 2
    cudaMemcpyDeviceToDevice = 3
    cudaMemcpyDefault = 4
class cudaAccessProperty(IntEnum):
    cudaAccessPropertyNormal = 0
    cudaAccessPropertyStreaming = 1
    cudaAccessPropertyPersisting = 2
class cudaStreamCaptureStatus(IntEnum):
    cudaStreamCaptureStatusNone = 0
    cudaStreamCaptureStatusActive = 1
    cudaStreamCaptureStatusInvalidated = 2
class cudaStreamCaptureMode(IntEnum):
    cudaStreamCaptureModeGlobal = 0
    cudaStreamCaptureModeThreadLocal = 1
    cudaStreamCaptureModeRelaxed = 2
class cudaSynchronizationPolicy(IntEnum):
    cudaSyncPolicyAuto = 1
    cudaSyncPolicySpin = 2
    cudaSyncPolicyYield = 3
    cudaSyncPolicyBlockingSync = 4
class cudaClusterSchedulingPolicy(IntEnum):
    cudaClusterSchedulingPolicyDefault = 0
    cudaClusterSchedulingPolicySpread = 1
    cudaClusterSchedulingPolicyLoadBalancing = 2
class cudaStreamUpdateCaptureDependenciesFlags(IntEnum):
    cudaStreamAddCaptureDependencies = 0
    cudaStreamSetCaptureDependencies = 1
class cudaUserObjectFlags(IntEnum):
    cudaUserObjectNoDestructorSync = 1
class cudaUserObjectRetainFlags(IntEnum):
    cudaGraphUserObjectMove = 1
class cudaGraphicsRegisterFlags(IntEnum):
    cudaGraphicsRegisterFlagsNone = 0
    cudaGraphicsRegisterFlagsReadOnly = 1
    cudaGraphicsRegisterFlagsWriteDiscard = 2
    cudaGraphicsRegisterFlagsSurfaceLoadStore = 4
    cudaGraphicsRegisterFlagsTextureGather = 8
class cudaGraphicsMapFlags(IntEnum):
    cudaGraphicsMapFlagsNone = 0
    cudaGraphicsMapFlagsReadOnly = 1
    cudaGraphicsMapFlagsWriteDiscard = 2
class cudaGraphicsCubeFace(IntEnum):
    cudaGraphicsCubeFacePositiveX = 0
    cudaGraphicsCubeFaceNegativeX = 1
    cudaGraphicsCubeFacePositiveY = 2
    cudaGraphicsCubeFaceNegativeY = 3
    cudaGraphicsCubeFacePositiveZ = 4
    cudaGraphicsCubeFaceNegativeZ = 5
class cudaResourceType(IntEnum):
    cudaResourceTypeArray = 0
    cudaResourceTypeMipmappedArray = 1
    cudaResourceTypeLinear = 2
    cudaResourceTypePitch2D = 3
class cudaResourceViewFormat(IntEnum):
    cudaResViewFormatNone = 0
    cudaResViewFormatUnsignedChar1 = 1
    cudaResViewFormatUnsignedChar2 = 2
    cudaResViewFormatUnsignedChar4 = 3
    cudaResViewFormatSignedChar1 = 4
    cudaResViewFormatSignedChar2 = 5
    cudaResViewFormatSignedChar4 = 6
    cudaResViewFormatUnsignedShort1 = 7
    cudaResViewFormatUnsignedShort2 = 8
    cudaResViewFormatUnsignedShort4 = 9
    cudaResViewFormatSignedShort1 = 10
    cudaResViewFormatSignedShort2 = 11
    cudaResViewFormatSignedShort4 = 12
    cudaResViewFormatUnsignedInt1 = 13
    cudaResViewFormatUnsignedInt2 = 14
    cudaResViewFormatUnsignedInt4 = 15
    cudaResViewFormatSignedInt1 = 16
    cudaResViewFormatSignedInt2 = 17
    cudaResViewFormatSignedInt4 = 18
    cudaResViewFormatHalf1 = 19
    cudaResViewFormatHalf2 = 20
    cudaResViewFormatHalf4 = 21
    cudaResViewFormatFloat1 = 22
    cudaResViewFormatFloat2 = 23
    cudaResViewFormatFloat4 = 24
    cudaResViewFormatUnsignedBlockCompressed1 = 25
    cudaResViewFormatUnsignedBlockCompressed2 = 26
    cudaResViewFormatUnsignedBlockCompressed3 = 27
    cudaResViewFormatUnsignedBlockCompressed4 = 28
    cudaResViewFormatSignedBlockCompressed4 = 29
    cudaResViewFormatUnsignedBlockCompressed5 = 30
    cudaResViewFormatSignedBlockCompressed5 = 31
    cudaResViewFormatUnsignedBlockCompressed6H = 32
    cudaResViewFormatSignedBlockCompressed6H = 33
    cudaResViewFormatUnsignedBlockCompressed7 = 34
class cudaFuncAttribute(IntEnum):
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
    cudaFuncAttributeClusterDimMustBeSet = 10
    cudaFuncAttributeRequiredClusterWidth = 11
    cudaFuncAttributeRequiredClusterHeight = 12
    cudaFuncAttributeRequiredClusterDepth = 13
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14
    cudaFuncAttributeClusterSchedulingPolicyPreference = 15
    cudaFuncAttributeMax = 16
class cudaFuncCache(IntEnum):
    cudaFuncCachePreferNone = 0
    cudaFuncCachePreferShared = 1
    cudaFuncCachePreferL1 = 2
    cudaFuncCachePreferEqual = 3
class cudaSharedMemConfig(IntEnum):
    cudaSharedMemBankSizeDefault = 0
    cudaSharedMemBankSizeFourByte = 1
    cudaSharedMemBankSizeEightByte = 2
class cudaSharedCarveout(IntEnum):
    cudaSharedmemCarveoutDefault = -1
    cudaSharedmemCarveoutMaxShared = 100
    cudaSharedmemCarveoutMaxL1 = 0
class cudaComputeMode(IntEnum):
    cudaComputeModeDefault = 0
    cudaComputeModeExclusive = 1
    cudaComputeModeProhibited = 2
    cudaComputeModeExclusiveProcess = 3
class cudaLimit(IntEnum):
    cudaLimitStackSize = 0
    cudaLimitPrintfFifoSize = 1
    cudaLimitMallocHeapSize = 2
    cudaLimitDevRuntimeSyncDepth = 3
    cudaLimitDevRuntimePendingLaunchCount = 4
    cudaLimitMaxL2FetchGranularity = 5
    cudaLimitPersistingL2CacheSize = 6
class cudaMemoryAdvise(IntEnum):
    cudaMemAdviseSetReadMostly = 1
    cudaMemAdviseUnsetReadMostly = 2
    cudaMemAdviseSetPreferredLocation = 3
    cudaMemAdviseUnsetPreferredLocation = 4
    cudaMemAdviseSetAccessedBy = 5
    cudaMemAdviseUnsetAccessedBy = 6
class cudaMemRangeAttribute(IntEnum):
    cudaMemRangeAttributeReadMostly = 1
    cudaMemRangeAttributePreferredLocation = 2
    cudaMemRangeAttributeAccessedBy = 3
    cudaMemRangeAttributeLastPrefetchLocation = 4
    cudaMemRangeAttributePreferredLocationType = 5
    cudaMemRangeAttributePreferredLocationId = 6
    cudaMemRangeAttributeLastPrefetchLocationType = 7
    cudaMemRangeAttributeLastPrefetchLocationId = 8
class cudaFlushGPUDirectRDMAWritesOptions(IntEnum):
    cudaFlushGPUDirectRDMAWritesOptionHost = 1
    cudaFlushGPUDirectRDMAWritesOptionMemOps = 2
class cudaGPUDirectRDMAWritesOrdering(IntEnum):
    cudaGPUDirectRDMAWritesOrderingNone = 0
    cudaGPUDirectRDMAWritesOrderingOwner = 100
    cudaGPUDirectRDMAWritesOrderingAllDevices = 200
class cudaFlushGPUDirectRDMAWritesScope(IntEnum):
    cudaFlushGPUDirectRDMAWritesToOwner = 100
    cudaFlushGPUDirectRDMAWritesToAllDevices = 200
class cudaFlushGPUDirectRDMAWritesTarget(IntEnum):
    cudaFlushGPUDirectRDMAWritesTargetCurrentDevice = 0
class cudaDeviceAttr(IntEnum):
    cudaDevAttrMaxThreadsPerBlock = 1
    cudaDevAttrMaxBlockDimX = 2
    cudaDevAttrMaxBlockDimY = 3
    cudaDevAttrMaxBlockDimZ = 4
    cudaDevAttrMaxGridDimX = 5
    cudaDevAttrMaxGridDimY = 6
    cudaDevAttrMaxGridDimZ = 7
    cudaDevAttrMaxSharedMemoryPerBlock = 8
    cudaDevAttrTotalConstantMemory = 9
    cudaDevAttrWarpSize = 10
    cudaDevAttrMaxPitch = 11
    cudaDevAttrMaxRegistersPerBlock = 12
    cudaDevAttrClockRate = 13
    cudaDevAttrTextureAlignment = 14
    cudaDevAttrGpuOverlap = 15
    cudaDevAttrMultiProcessorCount = 16
    cudaDevAttrKernelExecTimeout = 17
    cudaDevAttrIntegrated = 18
    cudaDevAttrCanMapHostMemory = 19
    cudaDevAttrComputeMode = 20
    cudaDevAttrMaxTexture1DWidth = 21
    cudaDevAttrMaxTexture2DWidth = 22
    cudaDevAttrMaxTexture2DHeight = 23
    cudaDevAttrMaxTexture3DWidth = 24
    cudaDevAttrMaxTexture3DHeight = 25
    cudaDevAttrMaxTexture3DDepth = 26
    cudaDevAttrMaxTexture2DLayeredWidth = 27
    cudaDevAttrMaxTexture2DLayeredHeight = 28
    cudaDevAttrMaxTexture2DLayeredLayers = 29
    cudaDevAttrSurfaceAlignment = 30
    cudaDevAttrConcurrentKernels = 31
    cudaDevAttrEccEnabled = 32
    cudaDevAttrPciBusId = 33
    cudaDevAttrPciDeviceId = 34
    cudaDevAttrTccDriver = 35
    cudaDevAttrMemoryClockRate = 36
    cudaDevAttrGlobalMemoryBusWidth = 37
    cudaDevAttrL2CacheSize = 38
    cudaDevAttrMaxThreadsPerMultiProcessor = 39
    cudaDevAttrAsyncEngineCount = 40
    cudaDevAttrUnifiedAddressing = 41
    cudaDevAttrMaxTexture1DLayeredWidth = 42
    cudaDevAttrMaxTexture1DLayeredLayers = 43
    cudaDevAttrMaxTexture2DGatherWidth = 45
    cudaDevAttrMaxTexture2DGatherHeight = 46
    cudaDevAttrMaxTexture3DWidthAlt = 47
    cudaDevAttrMaxTexture3DHeightAlt = 48
    cudaDevAttrMaxTexture3DDepthAlt = 49
    cudaDevAttrPciDomainId = 50
    cudaDevAttrTexturePitchAlignment = 51
    cudaDevAttrMaxTextureCubemapWidth = 52
    cudaDevAttrMaxTextureCubemapLayeredWidth = 53
    cudaDevAttrMaxTextureCubemapLayeredLayers = 54
    cudaDevAttrMaxSurface1DWidth = 55
    cudaDevAttrMaxSurface2DWidth = 56
    cudaDevAttrMaxSurface2DHeight = 57
    cudaDevAttrMaxSurface3DWidth = 58
    cudaDevAttrMaxSurface3DHeight = 59
    cudaDevAttrMaxSurface3DDepth = 60
    cudaDevAttrMaxSurface1DLayeredWidth = 61
    cudaDevAttrMaxSurface1DLayeredLayers = 62
    cudaDevAttrMaxSurface2DLayeredWidth = 63
    cudaDevAttrMaxSurface2DLayeredHeight = 64
    cudaDevAttrMaxSurface2DLayeredLayers = 65
    cudaDevAttrMaxSurfaceCubemapWidth = 66
    cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67
    cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68
    cudaDevAttrMaxTexture1DLinearWidth = 69
    cudaDevAttrMaxTexture2DLinearWidth = 70
    cudaDevAttrMaxTexture2DLinearHeight = 71
    cudaDevAttrMaxTexture2DLinearPitch = 72
    cudaDevAttrMaxTexture2DMipmappedWidth = 73
    cudaDevAttrMaxTexture2DMipmappedHeight = 74
    cudaDevAttrComputeCapabilityMajor = 75
    cudaDevAttrComputeCapabilityMinor = 76
    cudaDevAttrMaxTexture1DMipmappedWidth = 77
    cudaDevAttrStreamPrioritiesSupported = 78
    cudaDevAttrGlobalL1CacheSupported = 79
    cudaDevAttrLocalL1CacheSupported = 80
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81
    cudaDevAttrMaxRegistersPerMultiprocessor = 82
    cudaDevAttrManagedMemory = 83
    cudaDevAttrIsMultiGpuBoard = 84
    cudaDevAttrMultiGpuBoardGroupID = 85
    cudaDevAttrHostNativeAtomicSupported = 86
    cudaDevAttrSingleToDoublePrecisionPerfRatio = 87
    cudaDevAttrPageableMemoryAccess = 88
    cudaDevAttrConcurrentManagedAccess = 89
    cudaDevAttrComputePreemptionSupported = 90
    cudaDevAttrCanUseHostPointerForRegisteredMem = 91
    cudaDevAttrReserved92 = 92
    cudaDevAttrReserved93 = 93
    cudaDevAttrReserved94 = 94
    cudaDevAttrCooperativeLaunch = 95
    cudaDevAttrReserved96 = 96
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
    cudaDevAttrCanFlushRemoteWrites = 98
    cudaDevAttrHostRegisterSupported = 99
    cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100
    cudaDevAttrDirectManagedMemAccessFromHost = 101
    cudaDevAttrMaxBlocksPerMultiprocessor = 106
    cudaDevAttrMaxPersistingL2CacheSize = 108
    cudaDevAttrMaxAccessPolicyWindowSize = 109
    cudaDevAttrReservedSharedMemoryPerBlock = 111
    cudaDevAttrSparseCudaArraySupported = 112
    cudaDevAttrHostRegisterReadOnlySupported = 113
    cudaDevAttrTimelineSemaphoreInteropSupported = 114
    cudaDevAttrMemoryPoolsSupported = 115
    cudaDevAttrGPUDirectRDMASupported = 116
    cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117
    cudaDevAttrGPUDirectRDMAWritesOrdering = 118
    cudaDevAttrMemoryPoolSupportedHandleTypes = 119
    cudaDevAttrClusterLaunch = 120
    cudaDevAttrDeferredMappingCudaArraySupported = 121
    cudaDevAttrReserved122 = 122
    cudaDevAttrReserved123 = 123
    cudaDevAttrReserved124 = 124
    cudaDevAttrIpcEventSupport = 125
    cudaDevAttrMemSyncDomainCount = 126
    cudaDevAttrReserved127 = 127
    cudaDevAttrReserved128 = 128
    cudaDevAttrReserved129 = 129
    cudaDevAttrNumaConfig = 130
    cudaDevAttrNumaId = 131
    cudaDevAttrReserved132 = 132
    cudaDevAttrMpsEnabled = 133
    cudaDevAttrHostNumaId = 134
    cudaDevAttrD3D12CigSupported = 135
    cudaDevAttrVulkanCigSupported = 138
    cudaDevAttrGpuPciDeviceId = 139
    cudaDevAttrGpuPciSubsystemId = 140
    cudaDevAttrReserved141 = 141
    cudaDevAttrHostNumaMemoryPoolsSupported = 142
    cudaDevAttrHostNumaMultinodeIpcSupported = 143
    cudaDevAttrHostMemoryPoolsSupported = 144
    cudaDevAttrReserved145 = 145
    cudaDevAttrOnlyPartialHostNativeAtomicSupported = 147
    cudaDevAttrMax = 148
class cudaMemPoolAttr(IntEnum):
    cudaMemPoolReuseFollowEventDependencies = 1
    cudaMemPoolReuseAllowOpportunistic = 2
    cudaMemPoolReuseAllowInternalDependencies = 3
    cudaMemPoolAttrReleaseThreshold = 4
    cudaMemPoolAttrReservedMemCurrent = 5
    cudaMemPoolAttrReservedMemHigh = 6
    cudaMemPoolAttrUsedMemCurrent = 7
    cudaMemPoolAttrUsedMemHigh = 8
class cudaMemLocationType(IntEnum):
    cudaMemLocationTypeInvalid = 0
    cudaMemLocationTypeNone = 0
    cudaMemLocationTypeDevice = 1
    cudaMemLocationTypeHost = 2
    cudaMemLocationTypeHostNuma = 3
    cudaMemLocationTypeHostNumaCurrent = 4
class cudaMemAccessFlags(IntEnum):
    cudaMemAccessFlagsProtNone = 0
    cudaMemAccessFlagsProtRead = 1
    cudaMemAccessFlagsProtReadWrite = 3
class cudaMemAllocationType(IntEnum):
    cudaMemAllocationTypeInvalid = 0
    cudaMemAllocationTypePinned = 1
    cudaMemAllocationTypeManaged = 2
    cudaMemAllocationTypeMax = 2147483647
class cudaMemAllocationHandleType(IntEnum):
    cudaMemHandleTypeNone = 0
    cudaMemHandleTypePosixFileDescriptor = 1
    cudaMemHandleTypeWin32 = 2
    cudaMemHandleTypeWin32Kmt = 4
    cudaMemHandleTypeFabric = 8
class cudaGraphMemAttributeType(IntEnum):
    cudaGraphMemAttrUsedMemCurrent = 0
    cudaGraphMemAttrUsedMemHigh = 1
    cudaGraphMemAttrReservedMemCurrent = 2
    cudaGraphMemAttrReservedMemHigh = 3
class cudaMemcpyFlags(IntEnum):
    cudaMemcpyFlagDefault = 0
    cudaMemcpyFlagPreferOverlapWithCompute = 1
class cudaMemcpySrcAccessOrder(IntEnum):
    cudaMemcpySrcAccessOrderInvalid = 0
    cudaMemcpySrcAccessOrderStream = 1
    cudaMemcpySrcAccessOrderDuringApiCall = 2
    cudaMemcpySrcAccessOrderAny = 3
    cudaMemcpySrcAccessOrderMax = 2147483647
class cudaMemcpy3DOperandType(IntEnum):
    cudaMemcpyOperandTypePointer = 1
    cudaMemcpyOperandTypeArray = 2
    cudaMemcpyOperandTypeMax = 2147483647
class cudaDeviceP2PAttr(IntEnum):
    cudaDevP2PAttrPerformanceRank = 1
    cudaDevP2PAttrAccessSupported = 2
    cudaDevP2PAttrNativeAtomicSupported = 3
    cudaDevP2PAttrCudaArrayAccessSupported = 4
    cudaDevP2PAttrOnlyPartialNativeAtomicSupported = 5
class cudaAtomicOperation(IntEnum):
    cudaAtomicOperationIntegerAdd = 0
    cudaAtomicOperationIntegerMin = 1
    cudaAtomicOperationIntegerMax = 2
    cudaAtomicOperationIntegerIncrement = 3
    cudaAtomicOperationIntegerDecrement = 4
    cudaAtomicOperationAnd = 5
    cudaAtomicOperationOr = 6
    cudaAtomicOperationXOR = 7
    cudaAtomicOperationExchange = 8
    cudaAtomicOperationCAS = 9
    cudaAtomicOperationFloatAdd = 10
    cudaAtomicOperationFloatMin = 11
    cudaAtomicOperationFloatMax = 12
class cudaAtomicOperationCapability(IntEnum):
    cudaAtomicCapabilitySigned = 1
    cudaAtomicCapabilityUnsigned = 2
    cudaAtomicCapabilityReduction = 4
    cudaAtomicCapabilityScalar32 = 8
    cudaAtomicCapabilityScalar64 = 16
    cudaAtomicCapabilityScalar128 = 32
    cudaAtomicCapabilityVector32x4 = 64
class cudaExternalMemoryHandleType(IntEnum):
    cudaExternalMemoryHandleTypeOpaqueFd = 1
    cudaExternalMemoryHandleTypeOpaqueWin32 = 2
    cudaExternalMemoryHandleTypeOpaqueWin32Kmt = 3
    cudaExternalMemoryHandleTypeD3D12Heap = 4
    cudaExternalMemoryHandleTypeD3D12Resource = 5
    cudaExternalMemoryHandleTypeD3D11Resource = 6
    cudaExternalMemoryHandleTypeD3D11ResourceKmt = 7
    cudaExternalMemoryHandleTypeNvSciBuf = 8
class cudaExternalSemaphoreHandleType(IntEnum):
    cudaExternalSemaphoreHandleTypeOpaqueFd = 1
    cudaExternalSemaphoreHandleTypeOpaqueWin32 = 2
    cudaExternalSemaphoreHandleTypeOpaqueWin32Kmt = 3
    cudaExternalSemaphoreHandleTypeD3D12Fence = 4
    cudaExternalSemaphoreHandleTypeD3D11Fence = 5
    cudaExternalSemaphoreHandleTypeNvSciSync = 6
    cudaExternalSemaphoreHandleTypeKeyedMutex = 7
    cudaExternalSemaphoreHandleTypeKeyedMutexKmt = 8
    cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9
    cudaExternalSemaphoreHandleTypeTimelineSemaphoreWin32 = 10
class cudaJitOption(IntEnum):
    cudaJitMaxRegisters = 0
    cudaJitThreadsPerBlock = 1
    cudaJitWallTime = 2
    cudaJitInfoLogBuffer = 3
    cudaJitInfoLogBufferSizeBytes = 4
    cudaJitErrorLogBuffer = 5
    cudaJitErrorLogBufferSizeBytes = 6
    cudaJitOptimizationLevel = 7
    cudaJitFallbackStrategy = 10
    cudaJitGenerateDebugInfo = 11
    cudaJitLogVerbose = 12
    cudaJitGenerateLineInfo = 13
    cudaJitCacheMode = 14
    cudaJitPositionIndependentCode = 30
    cudaJitMinCtaPerSm = 31
    cudaJitMaxThreadsPerBlock = 32
    cudaJitOverrideDirectiveValues = 33
class cudaLibraryOption(IntEnum):
    cudaLibraryHostUniversalFunctionAndDataTable = 0
    cudaLibraryBinaryIsPreserved = 1
class cudaJit_CacheMode(IntEnum):
    cudaJitCacheOptionNone = 0
    cudaJitCacheOptionCG = 1
    cudaJitCacheOptionCA = 2
class cudaJit_Fallback(IntEnum):
    cudaPreferPtx = 0
    cudaPreferBinary = 1
class cudaCGScope(IntEnum):
    cudaCGScopeInvalid = 0
    cudaCGScopeGrid = 1
    cudaCGScopeReserved = 2
class cudaGraphConditionalHandleFlags(IntEnum):
    cudaGraphCondAssignDefault = 1
class cudaGraphConditionalNodeType(IntEnum):
    cudaGraphCondTypeIf = 0
    cudaGraphCondTypeWhile = 1
    cudaGraphCondTypeSwitch = 2
class cudaGraphNodeType(IntEnum):
    cudaGraphNodeTypeKernel = 0
    cudaGraphNodeTypeMemcpy = 1
    cudaGraphNodeTypeMemset = 2
    cudaGraphNodeTypeHost = 3
    cudaGraphNodeTypeGraph = 4
    cudaGraphNodeTypeEmpty = 5
    cudaGraphNodeTypeWaitEvent = 6
    cudaGraphNodeTypeEventRecord = 7
    cudaGraphNodeTypeExtSemaphoreSignal = 8
    cudaGraphNodeTypeExtSemaphoreWait = 9
    cudaGraphNodeTypeMemAlloc = 10
    cudaGraphNodeTypeMemFree = 11
    cudaGraphNodeTypeConditional = 13
    cudaGraphNodeTypeCount = 14
class cudaGraphChildGraphNodeOwnership(IntEnum):
    cudaGraphChildGraphOwnershipClone = 0
    cudaGraphChildGraphOwnershipMove = 1
class cudaGraphDependencyType(IntEnum):
    cudaGraphDependencyTypeDefault = 0
    cudaGraphDependencyTypeProgrammatic = 1
class cudaGraphExecUpdateResult(IntEnum):
    cudaGraphExecUpdateSuccess = 0
    cudaGraphExecUpdateError = 1
    cudaGraphExecUpdateErrorTopologyChanged = 2
    cudaGraphExecUpdateErrorNodeTypeChanged = 3
    cudaGraphExecUpdateErrorFunctionChanged = 4
    cudaGraphExecUpdateErrorParametersChanged = 5
    cudaGraphExecUpdateErrorNotSupported = 6
    cudaGraphExecUpdateErrorUnsupportedFunctionChange = 7
    cudaGraphExecUpdateErrorAttributesChanged = 8
class cudaGraphInstantiateResult(IntEnum):
    cudaGraphInstantiateSuccess = 0
    cudaGraphInstantiateError = 1
    cudaGraphInstantiateInvalidStructure = 2
    cudaGraphInstantiateNodeOperationNotSupported = 3
    cudaGraphInstantiateMultipleDevicesNotSupported = 4
    cudaGraphInstantiateConditionalHandleUnused = 5
class cudaGraphKernelNodeField(IntEnum):
    cudaGraphKernelNodeFieldInvalid = 0
    cudaGraphKernelNodeFieldGridDim = 1
    cudaGraphKernelNodeFieldParam = 2
    cudaGraphKernelNodeFieldEnabled = 3
class cudaGetDriverEntryPointFlags(IntEnum):
    cudaEnableDefault = 0
    cudaEnableLegacyStream = 1
    cudaEnablePerThreadDefaultStream = 2
class cudaDriverEntryPointQueryResult(IntEnum):
    cudaDriverEntryPointSuccess = 0
    cudaDriverEntryPointSymbolNotFound = 1
    cudaDriverEntryPointVersionNotSufficent = 2
class cudaGraphDebugDotFlags(IntEnum):
    cudaGraphDebugDotFlagsVerbose = 1
    cudaGraphDebugDotFlagsKernelNodeParams = 4
    cudaGraphDebugDotFlagsMemcpyNodeParams = 8
    cudaGraphDebugDotFlagsMemsetNodeParams = 16
    cudaGraphDebugDotFlagsHostNodeParams = 32
    cudaGraphDebugDotFlagsEventNodeParams = 64
    cudaGraphDebugDotFlagsExtSemasSignalNodeParams = 128
    cudaGraphDebugDotFlagsExtSemasWaitNodeParams = 256
    cudaGraphDebugDotFlagsKernelNodeAttributes = 512
    cudaGraphDebugDotFlagsHandles = 1024
    cudaGraphDebugDotFlagsConditionalNodeParams = 32768
class cudaGraphInstantiateFlags(IntEnum):
    cudaGraphInstantiateFlagAutoFreeOnLaunch = 1
    cudaGraphInstantiateFlagUpload = 2
    cudaGraphInstantiateFlagDeviceLaunch = 4
    cudaGraphInstantiateFlagUseNodePriority = 8
class cudaLaunchMemSyncDomain(IntEnum):
    cudaLaunchMemSyncDomainDefault = 0
    cudaLaunchMemSyncDomainRemote = 1
class cudaLaunchAttributeID(IntEnum):
    cudaLaunchAttributeIgnore = 0
    cudaLaunchAttributeAccessPolicyWindow = 1
    cudaLaunchAttributeCooperative = 2
    cudaLaunchAttributeSynchronizationPolicy = 3
    cudaLaunchAttributeClusterDimension = 4
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5
    cudaLaunchAttributeProgrammaticStreamSerialization = 6
    cudaLaunchAttributeProgrammaticEvent = 7
    cudaLaunchAttributePriority = 8
    cudaLaunchAttributeMemSyncDomainMap = 9
    cudaLaunchAttributeMemSyncDomain = 10
    cudaLaunchAttributePreferredClusterDimension = 11
    cudaLaunchAttributeLaunchCompletionEvent = 12
    cudaLaunchAttributeDeviceUpdatableKernelNode = 13
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14
    cudaLaunchAttributeNvlinkUtilCentricScheduling = 16
class cudaDeviceNumaConfig(IntEnum):
    cudaDeviceNumaConfigNone = 0
    cudaDeviceNumaConfigNumaNode = 1
class cudaAsyncNotificationType(IntEnum):
    cudaAsyncNotificationTypeOverBudget = 1
class cudaLogLevel(IntEnum):
    cudaLogLevelError = 0
    cudaLogLevelWarning = 1
class cudaSurfaceBoundaryMode(IntEnum):
    cudaBoundaryModeZero = 0
    cudaBoundaryModeClamp = 1
    cudaBoundaryModeTrap = 2
class cudaSurfaceFormatMode(IntEnum):
    cudaFormatModeForced = 0
    cudaFormatModeAuto = 1
class cudaTextureAddressMode(IntEnum):
    cudaAddressModeWrap = 0
    cudaAddressModeClamp = 1
    cudaAddressModeMirror = 2
    cudaAddressModeBorder = 3
class cudaTextureFilterMode(IntEnum):
    cudaFilterModePoint = 0
    cudaFilterModeLinear = 1
class cudaTextureReadMode(IntEnum):
    cudaReadModeElementType = 0
    cudaReadModeNormalizedFloat = 1
class cudaGLDeviceList(IntEnum):
    cudaGLDeviceListAll = 1
    cudaGLDeviceListCurrentFrame = 2
    cudaGLDeviceListNextFrame = 3
class cudaGLMapFlags(IntEnum):
    cudaGLMapFlagsNone = 0
    cudaGLMapFlagsReadOnly = 1
    cudaGLMapFlagsWriteDiscard = 2
class cudaDataType_t(IntEnum):
    CUDA_R_16F = 2
    CUDA_C_16F = 6
    CUDA_R_16BF = 14
    CUDA_C_16BF = 15
    CUDA_R_32F = 0
    CUDA_C_32F = 4
    CUDA_R_64F = 1
    CUDA_C_64F = 5
    CUDA_R_4I = 16
    CUDA_C_4I = 17
    CUDA_R_4U = 18
    CUDA_C_4U = 19
    CUDA_R_8I = 3
    CUDA_C_8I = 7
    CUDA_R_8U = 8
    CUDA_C_8U = 9
    CUDA_R_16I = 20
    CUDA_C_16I = 21
    CUDA_R_16U = 22
    CUDA_C_16U = 23
    CUDA_R_32I = 10
    CUDA_C_32I = 11
    CUDA_R_32U = 12
    CUDA_C_32U = 13
    CUDA_R_64I = 24
    CUDA_C_64I = 25
    CUDA_R_64U = 26
    CUDA_C_64U = 27
    CUDA_R_8F_E4M3 = 28
    CUDA_R_8F_UE4M3 = 28
    CUDA_R_8F_E5M2 = 29
    CUDA_R_8F_UE8M0 = 30
    CUDA_R_6F_E2M3 = 31
    CUDA_R_6F_E3M2 = 32
    CUDA_R_4F_E2M1 = 33
class cudaEmulationStrategy_t(IntEnum):
    CUDA_EMULATION_STRATEGY_DEFAULT = 0
    CUDA_EMULATION_STRATEGY_PERFORMANT = 1
    CUDA_EMULATION_STRATEGY_EAGER = 2
class cudaEmulationMantissaControl_t(IntEnum):
    CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC = 0
    CUDA_EMULATION_MANTISSA_CONTROL_FIXED = 1
class cudaEmulationSpecialValuesSupport_t(IntEnum):
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT = 65535
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NONE = 0
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_INFINITY = 1
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NAN = 2
class libraryPropertyType_t(IntEnum):
    MAJOR_VERSION = 0
    MINOR_VERSION = 1
    PATCH_LEVEL = 2
class cudaEglFrameType(IntEnum):
    cudaEglFrameTypeArray = 0
    cudaEglFrameTypePitch = 1
class cudaEglResourceLocationFlags(IntEnum):
    cudaEglResourceLocationSysmem = 0
    cudaEglResourceLocationVidmem = 1
class cudaEglColorFormat(IntEnum):
    cudaEglColorFormatYUV420Planar = 0
    cudaEglColorFormatYUV420SemiPlanar = 1
    cudaEglColorFormatYUV422Planar = 2
    cudaEglColorFormatYUV422SemiPlanar = 3
    cudaEglColorFormatARGB = 6
    cudaEglColorFormatRGBA = 7
    cudaEglColorFormatL = 8
    cudaEglColorFormatR = 9
    cudaEglColorFormatYUV444Planar = 10
    cudaEglColorFormatYUV444SemiPlanar = 11
    cudaEglColorFormatYUYV422 = 12
    cudaEglColorFormatUYVY422 = 13
    cudaEglColorFormatABGR = 14
    cudaEglColorFormatBGRA = 15
    cudaEglColorFormatA = 16
    cudaEglColorFormatRG = 17
    cudaEglColorFormatAYUV = 18
    cudaEglColorFormatYVU444SemiPlanar = 19
    cudaEglColorFormatYVU422SemiPlanar = 20
    cudaEglColorFormatYVU420SemiPlanar = 21
    cudaEglColorFormatY10V10U10_444SemiPlanar = 22
    cudaEglColorFormatY10V10U10_420SemiPlanar = 23
    cudaEglColorFormatY12V12U12_444SemiPlanar = 24
    cudaEglColorFormatY12V12U12_420SemiPlanar = 25
    cudaEglColorFormatVYUY_ER = 26
    cudaEglColorFormatUYVY_ER = 27
    cudaEglColorFormatYUYV_ER = 28
    cudaEglColorFormatYVYU_ER = 29
    cudaEglColorFormatYUVA_ER = 31
    cudaEglColorFormatAYUV_ER = 32
    cudaEglColorFormatYUV444Planar_ER = 33
    cudaEglColorFormatYUV422Planar_ER = 34
    cudaEglColorFormatYUV420Planar_ER = 35
    cudaEglColorFormatYUV444SemiPlanar_ER = 36
    cudaEglColorFormatYUV422SemiPlanar_ER = 37
    cudaEglColorFormatYUV420SemiPlanar_ER = 38
    cudaEglColorFormatYVU444Planar_ER = 39
    cudaEglColorFormatYVU422Planar_ER = 40
    cudaEglColorFormatYVU420Planar_ER = 41
    cudaEglColorFormatYVU444SemiPlanar_ER = 42
    cudaEglColorFormatYVU422SemiPlanar_ER = 43
    cudaEglColorFormatYVU420SemiPlanar_ER = 44
    cudaEglColorFormatBayerRGGB = 45
    cudaEglColorFormatBayerBGGR = 46
    cudaEglColorFormatBayerGRBG = 47
    cudaEglColorFormatBayerGBRG = 48
    cudaEglColorFormatBayer10RGGB = 49
    cudaEglColorFormatBayer10BGGR = 50
    cudaEglColorFormatBayer10GRBG = 51
    cudaEglColorFormatBayer10GBRG = 52
    cudaEglColorFormatBayer12RGGB = 53
    cudaEglColorFormatBayer12BGGR = 54
    cudaEglColorFormatBayer12GRBG = 55
    cudaEglColorFormatBayer12GBRG = 56
    cudaEglColorFormatBayer14RGGB = 57
    cudaEglColorFormatBayer14BGGR = 58
    cudaEglColorFormatBayer14GRBG = 59
    cudaEglColorFormatBayer14GBRG = 60
    cudaEglColorFormatBayer20RGGB = 61
    cudaEglColorFormatBayer20BGGR = 62
    cudaEglColorFormatBayer20GRBG = 63
    cudaEglColorFormatBayer20GBRG = 64
    cudaEglColorFormatYVU444Planar = 65
    cudaEglColorFormatYVU422Planar = 66
    cudaEglColorFormatYVU420Planar = 67
    cudaEglColorFormatBayerIspRGGB = 68
    cudaEglColorFormatBayerIspBGGR = 69
    cudaEglColorFormatBayerIspGRBG = 70
    cudaEglColorFormatBayerIspGBRG = 71
    cudaEglColorFormatBayerBCCR = 72
    cudaEglColorFormatBayerRCCB = 73
    cudaEglColorFormatBayerCRBC = 74
    cudaEglColorFormatBayerCBRC = 75
    cudaEglColorFormatBayer10CCCC = 76
    cudaEglColorFormatBayer12BCCR = 77
    cudaEglColorFormatBayer12RCCB = 78
    cudaEglColorFormatBayer12CRBC = 79
    cudaEglColorFormatBayer12CBRC = 80
    cudaEglColorFormatBayer12CCCC = 81
    cudaEglColorFormatY = 82
    cudaEglColorFormatYUV420SemiPlanar_2020 = 83
    cudaEglColorFormatYVU420SemiPlanar_2020 = 84
    cudaEglColorFormatYUV420Planar_2020 = 85
    cudaEglColorFormatYVU420Planar_2020 = 86
    cudaEglColorFormatYUV420SemiPlanar_709 = 87
    cudaEglColorFormatYVU420SemiPlanar_709 = 88
    cudaEglColorFormatYUV420Planar_709 = 89
    cudaEglColorFormatYVU420Planar_709 = 90
    cudaEglColorFormatY10V10U10_420SemiPlanar_709 = 91
    cudaEglColorFormatY10V10U10_420SemiPlanar_2020 = 92
    cudaEglColorFormatY10V10U10_422SemiPlanar_2020 = 93
    cudaEglColorFormatY10V10U10_422SemiPlanar = 94
    cudaEglColorFormatY10V10U10_422SemiPlanar_709 = 95
    cudaEglColorFormatY_ER = 96
    cudaEglColorFormatY_709_ER = 97
    cudaEglColorFormatY10_ER = 98
    cudaEglColorFormatY10_709_ER = 99
    cudaEglColorFormatY12_ER = 100
    cudaEglColorFormatY12_709_ER = 101
    cudaEglColorFormatYUVA = 102
    cudaEglColorFormatYVYU = 104
    cudaEglColorFormatVYUY = 105
    cudaEglColorFormatY10V10U10_420SemiPlanar_ER = 106
    cudaEglColorFormatY10V10U10_420SemiPlanar_709_ER = 107
    cudaEglColorFormatY10V10U10_444SemiPlanar_ER = 108
    cudaEglColorFormatY10V10U10_444SemiPlanar_709_ER = 109
    cudaEglColorFormatY12V12U12_420SemiPlanar_ER = 110
    cudaEglColorFormatY12V12U12_420SemiPlanar_709_ER = 111
    cudaEglColorFormatY12V12U12_444SemiPlanar_ER = 112
    cudaEglColorFormatY12V12U12_444SemiPlanar_709_ER = 113
    cudaEglColorFormatUYVY709 = 114
    cudaEglColorFormatUYVY709_ER = 115
    cudaEglColorFormatUYVY2020 = 116
class EGLImageKHR(Handle): ...
class EGLStreamKHR(Handle): ...
class EGLSyncKHR(Handle): ...
class cudaArray_t(Handle): ...
class cudaArray_const_t(Handle): ...
class cudaMipmappedArray_t(Handle): ...
class cudaMipmappedArray_const_t(Handle): ...
class cudaStream_t(Handle): ...
class cudaEvent_t(Handle): ...
class cudaGraphicsResource_t(Handle): ...
class cudaExternalMemory_t(Handle): ...
class cudaExternalSemaphore_t(Handle): ...
class cudaGraph_t(Handle): ...
class cudaGraphNode_t(Handle): ...
class cudaUserObject_t(Handle): ...
class cudaFunction_t(Handle): ...
class cudaKernel_t(Handle): ...
class cudaLibrary_t(Handle): ...
class cudaMemPool_t(Handle): ...
class cudaGraphExec_t(Handle): ...
class cudaGraphDeviceNode_t(Handle): ...
class cudaAsyncCallbackHandle_t(Handle): ...
class cudaLogsCallbackHandle(Handle): ...
class cudaEglStreamConnection(Handle): ...
class VdpGetProcAddress(Handle): ...
class cudaHostFn_t(Handle): ...
class cudaAsyncCallback(Handle): ...
class cudaStreamCallback_t(Handle): ...
class cudaLogsCallback_t(Handle): ...
class GLuint(Handle): ...
class GLenum(Handle): ...
class EGLint(Handle): ...
class VdpDevice(Handle): ...
class VdpFuncId(Handle): ...
class VdpStatus(Handle): ...
class VdpVideoSurface(Handle): ...
class VdpOutputSurface(Handle): ...
class cudaGraphConditionalHandle(Handle): ...
class cudaLogIterator(Handle): ...
class cudaSurfaceObject_t(Handle): ...
class cudaTextureObject_t(Handle): ...
class dim3(Record):
    x: int
    y: int
    z: int
class cudaChannelFormatDesc(Record):
    x: int
    y: int
    z: int
    w: int
    f: cudaChannelFormatKind
class cudaArraySparseProperties_tileExtent(Record):
    width: int
    height: int
    depth: int
class cudaArraySparseProperties(Record):
    tileExtent: cudaArraySparseProperties_tileExtent
    miptailFirstLevel: int
    miptailSize: int
    flags: int
    reserved: list[int]
class cudaArrayMemoryRequirements(Record):
    size: int
    alignment: int
    reserved: list[int]
class cudaPitchedPtr(Record):
    ptr: Any
    pitch: int
    xsize: int
    ysize: int
class cudaExtent(Record):
    width: int
    height: int
    depth: int
class cudaPos(Record):
    x: int
    y: int
    z: int
class cudaMemcpy3DParms(Record):
    srcArray: Any
    srcPos: cudaPos
    srcPtr: cudaPitchedPtr
    dstArray: Any
    dstPos: cudaPos
    dstPtr: cudaPitchedPtr
    extent: cudaExtent
    kind: cudaMemcpyKind
class cudaMemcpyNodeParams(Record):
    flags: int
    reserved: list[int]
    copyParams: cudaMemcpy3DParms
class cudaMemcpy3DPeerParms(Record):
    srcArray: Any
    srcPos: cudaPos
    srcPtr: cudaPitchedPtr
    srcDevice: int
    dstArray: Any
    dstPos: cudaPos
    dstPtr: cudaPitchedPtr
    dstDevice: int
    extent: cudaExtent
class cudaMemsetParams(Record):
    dst: Any
    pitch: int
    value: int
    elementSize: int
    width: int
    height: int
class cudaMemsetParamsV2(Record):
    dst: Any
    pitch: int
    value: int
    elementSize: int
    width: int
    height: int
class cudaAccessPolicyWindow(Record):
    base_ptr: Any
    num_bytes: int
    hitRatio: float
    hitProp: cudaAccessProperty
    missProp: cudaAccessProperty
class cudaHostNodeParams(Record):
    fn: Any
    userData: Any
class cudaHostNodeParamsV2(Record):
    fn: Any
    userData: Any
class cudaResourceDesc_array(Record):
    array: Any
class cudaResourceDesc_mipmap(Record):
    mipmap: Any
class cudaResourceDesc_linear(Record):
    devPtr: Any
    desc: cudaChannelFormatDesc
    sizeInBytes: int
class cudaResourceDesc_pitch2D(Record):
    devPtr: Any
    desc: cudaChannelFormatDesc
    width: int
    height: int
    pitchInBytes: int
class cudaResourceDesc_reserved(Record):
    reserved: list[int]
class cudaResourceDesc_res(Record):
    array: cudaResourceDesc_array
    mipmap: cudaResourceDesc_mipmap
    linear: cudaResourceDesc_linear
    pitch2D: cudaResourceDesc_pitch2D
    reserved: cudaResourceDesc_reserved
class cudaResourceDesc(Record):
    resType: cudaResourceType
    res: cudaResourceDesc_res
    flags: int
class cudaResourceViewDesc(Record):
    format: cudaResourceViewFormat
    width: int
    height: int
    depth: int
    firstMipmapLevel: int
    lastMipmapLevel: int
    firstLayer: int
    lastLayer: int
    reserved: list[int]
class cudaPointerAttributes(Record):
    type: cudaMemoryType
    device: int
    devicePointer: Any
    hostPointer: Any
    reserved: list[int]
class cudaFuncAttributes(Record):
    sharedSizeBytes: int
    constSizeBytes: int
    localSizeBytes: int
    maxThreadsPerBlock: int
    numRegs: int
    ptxVersion: int
    binaryVersion: int
    cacheModeCA: int
    maxDynamicSharedSizeBytes: int
    preferredShmemCarveout: int
    clusterDimMustBeSet: int
    requiredClusterWidth: int
    requiredClusterHeight: int
    requiredClusterDepth: int
    clusterSchedulingPolicyPreference: int
    nonPortableClusterSizeAllowed: int
    reserved: list[int]
class cudaMemLocation(Record):
    type: cudaMemLocationType
    id: int
class cudaMemAccessDesc(Record):
    location: cudaMemLocation
    flags: cudaMemAccessFlags
class cudaMemPoolProps(Record):
    allocType: cudaMemAllocationType
    handleTypes: cudaMemAllocationHandleType
    location: cudaMemLocation
    win32SecurityAttributes: Any
    maxSize: int
    usage: int
    reserved: bytes
class cudaMemPoolPtrExportData(Record):
    reserved: bytes
class cudaMemAllocNodeParams(Record):
    poolProps: cudaMemPoolProps
    accessDescs: list[cudaMemAccessDesc]
    accessDescCount: int
    bytesize: int
    dptr: Any
class cudaMemAllocNodeParamsV2(Record):
    poolProps: cudaMemPoolProps
    accessDescs: list[cudaMemAccessDesc]
    accessDescCount: int
    bytesize: int
    dptr: Any
class cudaMemFreeNodeParams(Record):
    dptr: Any
class cudaMemcpyAttributes(Record):
    srcAccessOrder: cudaMemcpySrcAccessOrder
    srcLocHint: cudaMemLocation
    dstLocHint: cudaMemLocation
    flags: int
class cudaOffset3D(Record):
    x: int
    y: int
    z: int
class cudaMemcpy3DOperand_ptr(Record):
    ptr: Any
    rowLength: int
    layerHeight: int
    locHint: cudaMemLocation
class cudaMemcpy3DOperand_array(Record):
    array: Any
    offset: cudaOffset3D
class cudaMemcpy3DOperand_op(Record):
    ptr: cudaMemcpy3DOperand_ptr
    array: cudaMemcpy3DOperand_array
class cudaMemcpy3DOperand(Record):
    type: cudaMemcpy3DOperandType
    op: cudaMemcpy3DOperand_op
class cudaMemcpy3DBatchOp(Record):
    src: cudaMemcpy3DOperand
    dst: cudaMemcpy3DOperand
    extent: cudaExtent
    srcAccessOrder: cudaMemcpySrcAccessOrder
    flags: int
class CUuuid(Record):
    bytes: bytes
class cudaDeviceProp(Record):
    name: bytes
    uuid: CUuuid
    luid: bytes
    luidDeviceNodeMask: int
    totalGlobalMem: int
    sharedMemPerBlock: int
    regsPerBlock: int
    warpSize: int
    memPitch: int
    maxThreadsPerBlock: int
    maxThreadsDim: list[int]
    maxGridSize: list[int]
    totalConstMem: int
    major: int
    minor: int
    textureAlignment: int
    texturePitchAlignment: int
    multiProcessorCount: int
    integrated: int
    canMapHostMemory: int
    maxTexture1D: int
    maxTexture1DMipmap: int
    maxTexture2D: list[int]
    maxTexture2DMipmap: list[int]
    maxTexture2DLinear: list[int]
    maxTexture2DGather: list[int]
    maxTexture3D: list[int]
    maxTexture3DAlt: list[int]
    maxTextureCubemap: int
    maxTexture1DLayered: list[int]
    maxTexture2DLayered: list[int]
    maxTextureCubemapLayered: list[int]
    maxSurface1D: int
    maxSurface2D: list[int]
    maxSurface3D: list[int]
    maxSurface1DLayered: list[int]
    maxSurface2DLayered: list[int]
    maxSurfaceCubemap: int
    maxSurfaceCubemapLayered: list[int]
    surfaceAlignment: int
    concurrentKernels: int
    ECCEnabled: int
    pciBusID: int
    pciDeviceID: int
    pciDomainID: int
    tccDriver: int
    asyncEngineCount: int
    unifiedAddressing: int
    memoryBusWidth: int
    l2CacheSize: int
    persistingL2CacheMaxSize: int
    maxThreadsPerMultiProcessor: int
    streamPrioritiesSupported: int
    globalL1CacheSupported: int
    localL1CacheSupported: int
    sharedMemPerMultiprocessor: int
    regsPerMultiprocessor: int
    managedMemory: int
    isMultiGpuBoard: int
    multiGpuBoardGroupID: int
    hostNativeAtomicSupported: int
    pageableMemoryAccess: int
    concurrentManagedAccess: int
    computePreemptionSupported: int
    canUseHostPointerForRegisteredMem: int
    cooperativeLaunch: int
    sharedMemPerBlockOptin: int
    pageableMemoryAccessUsesHostPageTables: int
    directManagedMemAccessFromHost: int
    maxBlocksPerMultiProcessor: int
    accessPolicyMaxWindowSize: int
    reservedSharedMemPerBlock: int
    hostRegisterSupported: int
    sparseCudaArraySupported: int
    hostRegisterReadOnlySupported: int
    timelineSemaphoreInteropSupported: int
    memoryPoolsSupported: int
    gpuDirectRDMASupported: int
    gpuDirectRDMAFlushWritesOptions: int
    gpuDirectRDMAWritesOrdering: int
    memoryPoolSupportedHandleTypes: int
    deferredMappingCudaArraySupported: int
    ipcEventSupported: int
    clusterLaunch: int
    unifiedFunctionPointers: int
    deviceNumaConfig: int
    deviceNumaId: int
    mpsEnabled: int
    hostNumaId: int
    gpuPciDeviceID: int
    gpuPciSubsystemID: int
    hostNumaMultinodeIpcSupported: int
    reserved: list[int]
class cudaIpcEventHandle_t(Record):
    reserved: bytes
class cudaIpcMemHandle_t(Record):
    reserved: bytes
class cudaMemFabricHandle_t(Record):
    reserved: bytes
class cudaExternalMemoryHandleDesc_win32(Record):
    handle: Any
    name: Any
class cudaExternalMemoryHandleDesc_handle(Record):
    fd: int
    win32: cudaExternalMemoryHandleDesc_win32
    nvSciBufObject: Any
class cudaExternalMemoryHandleDesc(Record):
    type: cudaExternalMemoryHandleType
    handle: cudaExternalMemoryHandleDesc_handle
    size: int
    flags: int
    reserved: list[int]
class cudaExternalMemoryBufferDesc(Record):
    offset: int
    size: int
    flags: int
    reserved: list[int]
class cudaExternalMemoryMipmappedArrayDesc(Record):
    offset: int
    formatDesc: cudaChannelFormatDesc
    extent: cudaExtent
    flags: int
    numLevels: int
    reserved: list[int]
class cudaExternalSemaphoreHandleDesc_win32(Record):
    handle: Any
    name: Any
class cudaExternalSemaphoreHandleDesc_handle(Record):
    fd: int
    win32: cudaExternalSemaphoreHandleDesc_win32
    nvSciSyncObj: Any
class cudaExternalSemaphoreHandleDesc(Record):
    type: cudaExternalSemaphoreHandleType
    handle: cudaExternalSemaphoreHandleDesc_handle
    flags: int
    reserved: list[int]
class cudaExternalSemaphoreSignalParams_fence(Record):
    value: int
class cudaExternalSemaphoreSignalParams_nvSciSync(Record):
    fence: Any
    reserved: int
class cudaExternalSemaphoreSignalParams_keyedMutex(Record):
    key: int
class cudaExternalSemaphoreSignalParams_params(Record):
    fence: cudaExternalSemaphoreSignalParams_fence
    nvSciSync: cudaExternalSemaphoreSignalParams_nvSciSync
    keyedMutex: cudaExternalSemaphoreSignalParams_keyedMutex
    reserved: list[int]
class cudaExternalSemaphoreSignalParams(Record):
    params: cudaExternalSemaphoreSignalParams_params
    flags: int
    reserved: list[int]
class cudaExternalSemaphoreWaitParams_fence(Record):
    value: int
class cudaExternalSemaphoreWaitParams_nvSciSync(Record):
    fence: Any
    reserved: int
class cudaExternalSemaphoreWaitParams_keyedMutex(Record):
    key: int
    timeoutMs: int
class cudaExternalSemaphoreWaitParams_params(Record):
    fence: cudaExternalSemaphoreWaitParams_fence
    nvSciSync: cudaExternalSemaphoreWaitParams_nvSciSync
    keyedMutex: cudaExternalSemaphoreWaitParams_keyedMutex
    reserved: list[int]
class cudaExternalSemaphoreWaitParams(Record):
    params: cudaExternalSemaphoreWaitParams_params
    flags: int
    reserved: list[int]
class cudalibraryHostUniversalFunctionAndDataTable(Record):
    functionTable: Any
    functionWindowSize: int
    dataTable: Any
    dataWindowSize: int
class cudaKernelNodeParams(Record):
    func: Any
    gridDim: dim3
    blockDim: dim3
    sharedMemBytes: int
    kernelParams: Any
    extra: Any
class cudaKernelNodeParamsV2(Record):
    func: Any
    gridDim: dim3
    blockDim: dim3
    sharedMemBytes: int
    kernelParams: Any
    extra: Any
class cudaExternalSemaphoreSignalNodeParams(Record):
    extSemArray: list[cudaExternalSemaphore_t]
    paramsArray: list[cudaExternalSemaphoreSignalParams]
    numExtSems: int
class cudaExternalSemaphoreSignalNodeParamsV2(Record):
    extSemArray: list[cudaExternalSemaphore_t]
    paramsArray: list[cudaExternalSemaphoreSignalParams]
    numExtSems: int
class cudaExternalSemaphoreWaitNodeParams(Record):
    extSemArray: list[cudaExternalSemaphore_t]
    paramsArray: list[cudaExternalSemaphoreWaitParams]
    numExtSems: int
class cudaExternalSemaphoreWaitNodeParamsV2(Record):
    extSemArray: list[cudaExternalSemaphore_t]
    paramsArray: list[cudaExternalSemaphoreWaitParams]
    numExtSems: int
class cudaConditionalNodeParams(Record):
    handle: Any
    type: cudaGraphConditionalNodeType
    size: int
    phGraph_out: list[cudaGraph_t]
class cudaChildGraphNodeParams(Record):
    graph: Any
    ownership: cudaGraphChildGraphNodeOwnership
class cudaEventRecordNodeParams(Record):
    event: Any
class cudaEventWaitNodeParams(Record):
    event: Any
class cudaGraphNodeParams(Record):
    type: cudaGraphNodeType
    reserved0: list[int]
    reserved1: list[int]
    kernel: cudaKernelNodeParamsV2
    memcpy: cudaMemcpyNodeParams
    memset: cudaMemsetParamsV2
    host: cudaHostNodeParamsV2
    graph: cudaChildGraphNodeParams
    eventWait: cudaEventWaitNodeParams
    eventRecord: cudaEventRecordNodeParams
    extSemSignal: cudaExternalSemaphoreSignalNodeParamsV2
    extSemWait: cudaExternalSemaphoreWaitNodeParamsV2
    alloc: cudaMemAllocNodeParamsV2
    free: cudaMemFreeNodeParams
    conditional: cudaConditionalNodeParams
    reserved2: int
class cudaGraphEdgeData(Record):
    from_port: int
    to_port: int
    type: int
    reserved: bytes
class cudaGraphInstantiateParams(Record):
    flags: int
    uploadStream: Any
    errNode_out: Any
    result_out: cudaGraphInstantiateResult
class cudaGraphExecUpdateResultInfo(Record):
    result: cudaGraphExecUpdateResult
    errorNode: Any
    errorFromNode: Any
class cudaGraphKernelNodeUpdate_param(Record):
    pValue: Any
    offset: int
    size: int
class cudaGraphKernelNodeUpdate_updateData(Record):
    gridDim: dim3
    param: cudaGraphKernelNodeUpdate_param
    isEnabled: int
class cudaGraphKernelNodeUpdate(Record):
    node: Any
    field: cudaGraphKernelNodeField
    updateData: cudaGraphKernelNodeUpdate_updateData
class cudaLaunchMemSyncDomainMap(Record):
    default_: int
    remote: int
class cudaLaunchAttributeValue_clusterDim(Record):
    x: int
    y: int
    z: int
class cudaLaunchAttributeValue_programmaticEvent(Record):
    event: Any
    flags: int
    triggerAtBlockStart: int
class cudaLaunchAttributeValue_preferredClusterDim(Record):
    x: int
    y: int
    z: int
class cudaLaunchAttributeValue_launchCompletionEvent(Record):
    event: Any
    flags: int
class cudaLaunchAttributeValue_deviceUpdatableKernelNode(Record):
    deviceUpdatable: int
    devNode: Any
class cudaLaunchAttributeValue(Record):
    pad: bytes
    accessPolicyWindow: cudaAccessPolicyWindow
    cooperative: int
    syncPolicy: cudaSynchronizationPolicy
    clusterDim: cudaLaunchAttributeValue_clusterDim
    clusterSchedulingPolicyPreference: cudaClusterSchedulingPolicy
    programmaticStreamSerializationAllowed: int
    programmaticEvent: cudaLaunchAttributeValue_programmaticEvent
    priority: int
    memSyncDomainMap: cudaLaunchMemSyncDomainMap
    memSyncDomain: cudaLaunchMemSyncDomain
    preferredClusterDim: cudaLaunchAttributeValue_preferredClusterDim
    launchCompletionEvent: cudaLaunchAttributeValue_launchCompletionEvent
    deviceUpdatableKernelNode: cudaLaunchAttributeValue_deviceUpdatableKernelNode
    sharedMemCarveout: int
    nvlinkUtilCentricScheduling: int
class cudaLaunchAttribute(Record):
    id: cudaLaunchAttributeID
    pad: bytes
    val: cudaLaunchAttributeValue
class cudaLaunchConfig_t(Record):
    gridDim: dim3
    blockDim: dim3
    dynamicSmemBytes: int
    stream: Any
    attrs: list[cudaLaunchAttribute]
    numAttrs: int
class cudaAsyncNotificationInfo_overBudget(Record):
    bytesOverBudget: int
class cudaAsyncNotificationInfo_info(Record):
    overBudget: cudaAsyncNotificationInfo_overBudget
class cudaAsyncNotificationInfo(Record):
    type: cudaAsyncNotificationType
    info: cudaAsyncNotificationInfo_info
class cudaTextureDesc(Record):
    addressMode: list[cudaTextureAddressMode]
    filterMode: cudaTextureFilterMode
    readMode: cudaTextureReadMode
    sRGB: int
    borderColor: list[float]
    normalizedCoords: int
    maxAnisotropy: int
    mipmapFilterMode: cudaTextureFilterMode
    mipmapLevelBias: float
    minMipmapLevelClamp: float
    maxMipmapLevelClamp: float
    disableTrilinearOptimization: int
    seamlessCubemap: int
class cudaEglPlaneDesc(Record):
    width: int
    height: int
    depth: int
    pitch: int
    numChannels: int
    channelDesc: cudaChannelFormatDesc
    reserved: list[int]
class cudaEglFrame_frame(Record):
    pArray: list[cudaArray_t]
    pPitch: list[cudaPitchedPtr]
class cudaEglFrame(Record):
    frame: cudaEglFrame_frame
    planeDesc: list[cudaEglPlaneDesc]
    planeCount: int
    frameType: cudaEglFrameType
    eglColorFormat: cudaEglColorFormat
cudaUUID_t = CUuuid
cudaAsyncNotificationInfo_t = cudaAsyncNotificationInfo
cudaDataType = cudaDataType_t
cudaEmulationStrategy = cudaEmulationStrategy_t
cudaEmulationMantissaControl = cudaEmulationMantissaControl_t
cudaEmulationSpecialValuesSupport = cudaEmulationSpecialValuesSupport_t
libraryPropertyType = libraryPropertyType_t
CUuuid_st = CUuuid
cudaIpcEventHandle_st = cudaIpcEventHandle_t
cudaIpcMemHandle_st = cudaIpcMemHandle_t
cudaMemFabricHandle_st = cudaMemFabricHandle_t
cudaGraphEdgeData_st = cudaGraphEdgeData
cudaGraphInstantiateParams_st = cudaGraphInstantiateParams
cudaGraphExecUpdateResultInfo_st = cudaGraphExecUpdateResultInfo
cudaLaunchMemSyncDomainMap_st = cudaLaunchMemSyncDomainMap
cudaLaunchAttribute_st = cudaLaunchAttribute
cudaLaunchConfig_st = cudaLaunchConfig_t
cudaEglPlaneDesc_st = cudaEglPlaneDesc
cudaEglFrame_st = cudaEglFrame
cudaError = cudaError_t
cudaGraphDependencyType_enum = cudaGraphDependencyType
cudaAsyncNotificationType_enum = cudaAsyncNotificationType
CUDAlogLevel_enum = cudaLogLevel
cudaEglFrameType_enum = cudaEglFrameType
cudaEglResourceLocationFlags_enum = cudaEglResourceLocationFlags
cudaEglColorFormat_enum = cudaEglColorFormat
def cudaDeviceReset() -> tuple[cudaError_t]: ...
def cudaDeviceSynchronize() -> tuple[cudaError_t]: ...
def cudaDeviceSetLimit(limit: cudaLimit, value: int) -> tuple[cudaError_t]: ...
def cudaDeviceGetLimit(limit: cudaLimit) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetTexture1DLinearMaxWidth(fmtDesc: cudaChannelFormatDesc | None, device: int) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetCacheConfig() -> tuple[cudaError_t, cudaFuncCache]: ...
def cudaDeviceGetStreamPriorityRange() -> tuple[cudaError_t, int, int]: ...
def cudaDeviceSetCacheConfig(cacheConfig: cudaFuncCache) -> tuple[cudaError_t]: ...
def cudaDeviceGetByPCIBusId(pciBusId: Text) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetPCIBusId(length: int, device: int) -> tuple[cudaError_t, bytes]: ...
def cudaIpcGetEventHandle(event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t, cudaIpcEventHandle_t]: ...
def cudaIpcOpenEventHandle(handle: cudaIpcEventHandle_t) -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaIpcGetMemHandle(devPtr: Pointer) -> tuple[cudaError_t, cudaIpcMemHandle_t]: ...
def cudaIpcOpenMemHandle(handle: cudaIpcMemHandle_t, flags: int) -> tuple[cudaError_t, int]: ...
def cudaIpcCloseMemHandle(devPtr: Pointer) -> tuple[cudaError_t]: ...
def cudaDeviceFlushGPUDirectRDMAWrites(target: cudaFlushGPUDirectRDMAWritesTarget, scope: cudaFlushGPUDirectRDMAWritesScope) -> tuple[cudaError_t]: ...
def cudaDeviceRegisterAsyncNotification(device: int, callbackFunc: cudaAsyncCallback | SupportsInt | None, userData: Pointer) -> tuple[cudaError_t, cudaAsyncCallbackHandle_t]: ...
def cudaDeviceUnregisterAsyncNotification(device: int, callback: cudaAsyncCallbackHandle_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaDeviceGetSharedMemConfig() -> tuple[cudaError_t, cudaSharedMemConfig]: ...
def cudaDeviceSetSharedMemConfig(config: cudaSharedMemConfig) -> tuple[cudaError_t]: ...
def cudaGetLastError() -> tuple[cudaError_t]: ...
def cudaPeekAtLastError() -> tuple[cudaError_t]: ...
def cudaGetErrorName(error: cudaError_t) -> tuple[cudaRoundMode, bytes]: ...
def cudaGetErrorString(error: cudaError_t) -> tuple[cudaRoundMode, bytes]: ...
def cudaGetDeviceCount() -> tuple[cudaError_t, int]: ...
def cudaGetDeviceProperties(device: int) -> tuple[cudaError_t, cudaDeviceProp]: ...
def cudaDeviceGetAttribute(attr: cudaDeviceAttr, device: int) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetHostAtomicCapabilities(operations: Sequence[cudaAtomicOperation] | None, count: int, device: int) -> tuple[cudaError_t, list[int]]: ...
def cudaDeviceGetDefaultMemPool(device: int) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaDeviceSetMemPool(device: int, memPool: cudaMemPool_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaDeviceGetMemPool(device: int) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaDeviceGetNvSciSyncAttributes(nvSciSyncAttrList: Pointer, device: int, flags: int) -> tuple[cudaError_t]: ...
def cudaDeviceGetP2PAttribute(attr: cudaDeviceP2PAttr, srcDevice: int, dstDevice: int) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetP2PAtomicCapabilities(operations: Sequence[cudaAtomicOperation] | None, count: int, srcDevice: int, dstDevice: int) -> tuple[cudaError_t, list[int]]: ...
def cudaChooseDevice(prop: cudaDeviceProp | None) -> tuple[cudaError_t, int]: ...
def cudaInitDevice(device: int, deviceFlags: int, flags: int) -> tuple[cudaError_t]: ...
def cudaSetDevice(device: int) -> tuple[cudaError_t]: ...
def cudaGetDevice() -> tuple[cudaError_t, int]: ...
def cudaSetDeviceFlags(flags: int) -> tuple[cudaError_t]: ...
def cudaGetDeviceFlags() -> tuple[cudaError_t, int]: ...
def cudaStreamCreate() -> tuple[cudaError_t, cudaStream_t]: ...
def cudaStreamCreateWithFlags(flags: int) -> tuple[cudaError_t, cudaStream_t]: ...
def cudaStreamCreateWithPriority(flags: int, priority: int) -> tuple[cudaError_t, cudaStream_t]: ...
def cudaStreamGetPriority(hStream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaStreamGetFlags(hStream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaStreamGetId(hStream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaStreamGetDevice(hStream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaCtxResetPersistingL2Cache() -> tuple[cudaError_t]: ...
def cudaStreamCopyAttributes(dst: cudaStream_t | SupportsInt | None, src: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaStreamGetAttribute(hStream: cudaStream_t | SupportsInt | None, attr: cudaLaunchAttributeID) -> tuple[cudaError_t, cudaLaunchAttributeValue]: ...
def cudaStreamSetAttribute(hStream: cudaStream_t | SupportsInt | None, attr: cudaLaunchAttributeID, value: cudaLaunchAttributeValue | None) -> tuple[cudaError_t]: ...
def cudaStreamDestroy(stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaStreamWaitEvent(stream: cudaStream_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None, flags: int) -> tuple[cudaError_t]: ...
def cudaStreamAddCallback(*args: Any, **kwargs: Any) -> Any: ...
def cudaStreamSynchronize(stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaStreamQuery(stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaStreamAttachMemAsync(stream: cudaStream_t | SupportsInt | None, devPtr: Pointer, length: int, flags: int) -> tuple[cudaError_t]: ...
def cudaStreamBeginCapture(stream: cudaStream_t | SupportsInt | None, mode: cudaStreamCaptureMode) -> tuple[cudaError_t]: ...
def cudaStreamBeginCaptureToGraph(stream: cudaStream_t | SupportsInt | None, graph: cudaGraph_t | SupportsInt | None, dependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, dependencyData: Sequence[cudaGraphEdgeData] | None, numDependencies: int, mode: cudaStreamCaptureMode) -> tuple[cudaError_t]: ...
def cudaThreadExchangeStreamCaptureMode(mode: cudaStreamCaptureMode) -> tuple[cudaError_t, cudaStreamCaptureMode]: ...
def cudaStreamEndCapture(stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t, cudaGraph_t]: ...
def cudaStreamIsCapturing(stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t, cudaStreamCaptureStatus]: ...
def cudaStreamGetCaptureInfo(*args: Any, **kwargs: Any) -> Any: ...
def cudaStreamUpdateCaptureDependencies(stream: cudaStream_t | SupportsInt | None, dependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, dependencyData: Sequence[cudaGraphEdgeData] | None, numDependencies: int, flags: int) -> tuple[cudaError_t]: ...
def cudaEventCreate() -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaEventCreateWithFlags(flags: int) -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaEventRecord(event: cudaEvent_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaEventRecordWithFlags(event: cudaEvent_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None, flags: int) -> tuple[cudaError_t]: ...
def cudaEventQuery(event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaEventSynchronize(event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaEventDestroy(event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaEventElapsedTime(start: cudaEvent_t | SupportsInt | None, end: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t, float]: ...
def cudaImportExternalMemory(memHandleDesc: cudaExternalMemoryHandleDesc | None) -> tuple[cudaError_t, cudaExternalMemory_t]: ...
def cudaExternalMemoryGetMappedBuffer(extMem: cudaExternalMemory_t | SupportsInt | None, bufferDesc: cudaExternalMemoryBufferDesc | None) -> tuple[cudaError_t, int]: ...
def cudaExternalMemoryGetMappedMipmappedArray(extMem: cudaExternalMemory_t | SupportsInt | None, mipmapDesc: cudaExternalMemoryMipmappedArrayDesc | None) -> tuple[cudaError_t, cudaMipmappedArray_t]: ...
def cudaDestroyExternalMemory(extMem: cudaExternalMemory_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaImportExternalSemaphore(semHandleDesc: cudaExternalSemaphoreHandleDesc | None) -> tuple[cudaError_t, cudaExternalSemaphore_t]: ...
def cudaSignalExternalSemaphoresAsync(extSemArray: Sequence[cudaExternalSemaphore_t | SupportsInt | None] | None, paramsArray: Sequence[cudaExternalSemaphoreSignalParams] | None, numExtSems: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaWaitExternalSemaphoresAsync(extSemArray: Sequence[cudaExternalSemaphore_t | SupportsInt | None] | None, paramsArray: Sequence[cudaExternalSemaphoreWaitParams] | None, numExtSems: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaDestroyExternalSemaphore(extSem: cudaExternalSemaphore_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaFuncSetCacheConfig(func: Pointer, cacheConfig: cudaFuncCache) -> tuple[cudaError_t]: ...
def cudaFuncGetAttributes(func: Pointer) -> tuple[cudaError_t, cudaFuncAttributes]: ...
def cudaFuncSetAttribute(func: Pointer, attr: cudaFuncAttribute, value: int) -> tuple[cudaError_t]: ...
def cudaLaunchHostFunc(*args: Any, **kwargs: Any) -> Any: ...
def cudaFuncSetSharedMemConfig(func: Pointer, config: cudaSharedMemConfig) -> tuple[cudaError_t]: ...
def cudaOccupancyMaxActiveBlocksPerMultiprocessor(func: Pointer, blockSize: int, dynamicSMemSize: int) -> tuple[cudaError_t, int]: ...
def cudaOccupancyAvailableDynamicSMemPerBlock(func: Pointer, numBlocks: int, blockSize: int) -> tuple[cudaError_t, int]: ...
def cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(func: Pointer, blockSize: int, dynamicSMemSize: int, flags: int) -> tuple[cudaError_t, int]: ...
def cudaMallocManaged(size: int, flags: int) -> tuple[cudaError_t, int]: ...
def cudaMalloc(size: int) -> tuple[cudaError_t, int]: ...
def cudaMallocHost(size: int) -> tuple[cudaError_t, int]: ...
def cudaMallocPitch(width: int, height: int) -> tuple[cudaError_t, int, int]: ...
def cudaMallocArray(desc: cudaChannelFormatDesc | None, width: int, height: int, flags: int) -> tuple[cudaError_t, cudaArray_t]: ...
def cudaFree(devPtr: Pointer) -> tuple[cudaError_t]: ...
def cudaFreeHost(ptr: Pointer) -> tuple[cudaError_t]: ...
def cudaFreeArray(array: cudaArray_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaFreeMipmappedArray(mipmappedArray: cudaMipmappedArray_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaHostAlloc(size: int, flags: int) -> tuple[cudaError_t, int]: ...
def cudaHostRegister(ptr: Pointer, size: int, flags: int) -> tuple[cudaError_t]: ...
def cudaHostUnregister(ptr: Pointer) -> tuple[cudaError_t]: ...
def cudaHostGetDevicePointer(pHost: Pointer, flags: int) -> tuple[cudaError_t, int]: ...
def cudaHostGetFlags(pHost: Pointer) -> tuple[cudaError_t, int]: ...
def cudaMalloc3D(extent: cudaExtent) -> tuple[cudaError_t, cudaPitchedPtr]: ...
def cudaMalloc3DArray(desc: cudaChannelFormatDesc | None, extent: cudaExtent, flags: int) -> tuple[cudaError_t, cudaArray_t]: ...
def cudaMallocMipmappedArray(desc: cudaChannelFormatDesc | None, extent: cudaExtent, numLevels: int, flags: int) -> tuple[cudaError_t, cudaMipmappedArray_t]: ...
def cudaGetMipmappedArrayLevel(mipmappedArray: cudaMipmappedArray_const_t | SupportsInt | None, level: int) -> tuple[cudaError_t, cudaArray_t]: ...
def cudaMemcpy3D(p: cudaMemcpy3DParms | None) -> tuple[cudaError_t]: ...
def cudaMemcpy3DPeer(p: cudaMemcpy3DPeerParms | None) -> tuple[cudaError_t]: ...
def cudaMemcpy3DAsync(p: cudaMemcpy3DParms | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemcpy3DPeerAsync(p: cudaMemcpy3DPeerParms | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemGetInfo() -> tuple[cudaError_t, int, int]: ...
def cudaArrayGetInfo(array: cudaArray_t | SupportsInt | None) -> tuple[cudaError_t, cudaChannelFormatDesc, cudaExtent, int]: ...
def cudaArrayGetPlane(hArray: cudaArray_t | SupportsInt | None, planeIdx: int) -> tuple[cudaError_t, cudaArray_t]: ...
def cudaArrayGetMemoryRequirements(array: cudaArray_t | SupportsInt | None, device: int) -> tuple[cudaError_t, cudaArrayMemoryRequirements]: ...
def cudaMipmappedArrayGetMemoryRequirements(mipmap: cudaMipmappedArray_t | SupportsInt | None, device: int) -> tuple[cudaError_t, cudaArrayMemoryRequirements]: ...
def cudaArrayGetSparseProperties(array: cudaArray_t | SupportsInt | None) -> tuple[cudaError_t, cudaArraySparseProperties]: ...
def cudaMipmappedArrayGetSparseProperties(mipmap: cudaMipmappedArray_t | SupportsInt | None) -> tuple[cudaError_t, cudaArraySparseProperties]: ...
def cudaMemcpy(dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaMemcpyPeer(dst: Pointer, dstDevice: int, src: Pointer, srcDevice: int, count: int) -> tuple[cudaError_t]: ...
def cudaMemcpy2D(dst: Pointer, dpitch: int, src: Pointer, spitch: int, width: int, height: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaMemcpy2DToArray(dst: cudaArray_t | SupportsInt | None, wOffset: int, hOffset: int, src: Pointer, spitch: int, width: int, height: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaMemcpy2DFromArray(dst: Pointer, dpitch: int, src: cudaArray_const_t | SupportsInt | None, wOffset: int, hOffset: int, width: int, height: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaMemcpy2DArrayToArray(dst: cudaArray_t | SupportsInt | None, wOffsetDst: int, hOffsetDst: int, src: cudaArray_const_t | SupportsInt | None, wOffsetSrc: int, hOffsetSrc: int, width: int, height: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaMemcpyAsync(dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemcpyPeerAsync(dst: Pointer, dstDevice: int, src: Pointer, srcDevice: int, count: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemcpyBatchAsync(dsts: Sequence[Pointer] | None, srcs: Sequence[Pointer] | None, sizes: Sequence[int] | None, count: int, attrs: Sequence[cudaMemcpyAttributes] | None, attrsIdxs: Sequence[int] | None, numAttrs: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemcpy3DBatchAsync(numOps: int, opList: Sequence[cudaMemcpy3DBatchOp] | None, flags: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemcpy2DAsync(dst: Pointer, dpitch: int, src: Pointer, spitch: int, width: int, height: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemcpy2DToArrayAsync(dst: cudaArray_t | SupportsInt | None, wOffset: int, hOffset: int, src: Pointer, spitch: int, width: int, height: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemcpy2DFromArrayAsync(dst: Pointer, dpitch: int, src: cudaArray_const_t | SupportsInt | None, wOffset: int, hOffset: int, width: int, height: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemset(devPtr: Pointer, value: int, count: int) -> tuple[cudaError_t]: ...
def cudaMemset2D(devPtr: Pointer, pitch: int, value: int, width: int, height: int) -> tuple[cudaError_t]: ...
def cudaMemset3D(pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent) -> tuple[cudaError_t]: ...
def cudaMemsetAsync(devPtr: Pointer, value: int, count: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemset2DAsync(devPtr: Pointer, pitch: int, value: int, width: int, height: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemset3DAsync(pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemPrefetchAsync(devPtr: Pointer, count: int, location: cudaMemLocation, flags: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemPrefetchBatchAsync(dptrs: Sequence[Pointer] | None, sizes: Sequence[int] | None, count: int, prefetchLocs: Sequence[cudaMemLocation] | None, prefetchLocIdxs: Sequence[int] | None, numPrefetchLocs: int, flags: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemDiscardBatchAsync(dptrs: Sequence[Pointer] | None, sizes: Sequence[int] | None, count: int, flags: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemDiscardAndPrefetchBatchAsync(dptrs: Sequence[Pointer] | None, sizes: Sequence[int] | None, count: int, prefetchLocs: Sequence[cudaMemLocation] | None, prefetchLocIdxs: Sequence[int] | None, numPrefetchLocs: int, flags: int, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemAdvise(devPtr: Pointer, count: int, advice: cudaMemoryAdvise, location: cudaMemLocation) -> tuple[cudaError_t]: ...
def cudaMemRangeGetAttribute(*args: Any, **kwargs: Any) -> Any: ...
def cudaMemRangeGetAttributes(*args: Any, **kwargs: Any) -> Any: ...
def cudaMemcpyToArray(dst: cudaArray_t | SupportsInt | None, wOffset: int, hOffset: int, src: Pointer, count: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaMemcpyFromArray(dst: Pointer, src: cudaArray_const_t | SupportsInt | None, wOffset: int, hOffset: int, count: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaMemcpyArrayToArray(dst: cudaArray_t | SupportsInt | None, wOffsetDst: int, hOffsetDst: int, src: cudaArray_const_t | SupportsInt | None, wOffsetSrc: int, hOffsetSrc: int, count: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaMemcpyToArrayAsync(dst: cudaArray_t | SupportsInt | None, wOffset: int, hOffset: int, src: Pointer, count: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemcpyFromArrayAsync(dst: Pointer, src: cudaArray_const_t | SupportsInt | None, wOffset: int, hOffset: int, count: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMallocAsync(size: int, hStream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaFreeAsync(devPtr: Pointer, hStream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemPoolTrimTo(memPool: cudaMemPool_t | SupportsInt | None, minBytesToKeep: int) -> tuple[cudaError_t]: ...
def cudaMemPoolSetAttribute(*args: Any, **kwargs: Any) -> Any: ...
def cudaMemPoolGetAttribute(*args: Any, **kwargs: Any) -> Any: ...
def cudaMemPoolSetAccess(memPool: cudaMemPool_t | SupportsInt | None, descList: Sequence[cudaMemAccessDesc] | None, count: int) -> tuple[cudaError_t]: ...
def cudaMemPoolGetAccess(memPool: cudaMemPool_t | SupportsInt | None, location: cudaMemLocation | None) -> tuple[cudaError_t, cudaMemAccessFlags]: ...
def cudaMemPoolCreate(poolProps: cudaMemPoolProps | None) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaMemPoolDestroy(memPool: cudaMemPool_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMemGetDefaultMemPool(location: cudaMemLocation | None, typename: cudaMemAllocationType) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaMemGetMemPool(location: cudaMemLocation | None, typename: cudaMemAllocationType) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaMemSetMemPool(location: cudaMemLocation | None, typename: cudaMemAllocationType, memPool: cudaMemPool_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaMallocFromPoolAsync(size: int, memPool: cudaMemPool_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaMemPoolExportToShareableHandle(*args: Any, **kwargs: Any) -> Any: ...
def cudaMemPoolImportFromShareableHandle(shareableHandle: Pointer, handleType: cudaMemAllocationHandleType, flags: int) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaMemPoolExportPointer(ptr: Pointer) -> tuple[cudaError_t, cudaMemPoolPtrExportData]: ...
def cudaMemPoolImportPointer(memPool: cudaMemPool_t | SupportsInt | None, exportData: cudaMemPoolPtrExportData | None) -> tuple[cudaError_t, int]: ...
def cudaPointerGetAttributes(ptr: Pointer) -> tuple[cudaError_t, cudaPointerAttributes]: ...
def cudaDeviceCanAccessPeer(device: int, peerDevice: int) -> tuple[cudaError_t, int]: ...
def cudaDeviceEnablePeerAccess(peerDevice: int, flags: int) -> tuple[cudaError_t]: ...
def cudaDeviceDisablePeerAccess(peerDevice: int) -> tuple[cudaError_t]: ...
def cudaGraphicsUnregisterResource(resource: cudaGraphicsResource_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphicsResourceSetMapFlags(resource: cudaGraphicsResource_t | SupportsInt | None, flags: int) -> tuple[cudaError_t]: ...
def cudaGraphicsMapResources(count: int, resources: Sequence[cudaGraphicsResource_t | SupportsInt | None] | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphicsUnmapResources(count: int, resources: Sequence[cudaGraphicsResource_t | SupportsInt | None] | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphicsResourceGetMappedPointer(resource: cudaGraphicsResource_t | SupportsInt | None) -> tuple[cudaError_t, int, int]: ...
def cudaGraphicsSubResourceGetMappedArray(resource: cudaGraphicsResource_t | SupportsInt | None, arrayIndex: int, mipLevel: int) -> tuple[cudaError_t, cudaArray_t]: ...
def cudaGraphicsResourceGetMappedMipmappedArray(resource: cudaGraphicsResource_t | SupportsInt | None) -> tuple[cudaError_t, cudaMipmappedArray_t]: ...
def cudaGetChannelDesc(array: cudaArray_const_t | SupportsInt | None) -> tuple[cudaError_t, cudaChannelFormatDesc]: ...
def cudaCreateChannelDesc(*args: Any, **kwargs: Any) -> Any: ...
def cudaCreateTextureObject(pResDesc: cudaResourceDesc | None, pTexDesc: cudaTextureDesc | None, pResViewDesc: cudaResourceViewDesc | None) -> tuple[cudaError_t, cudaTextureObject_t]: ...
def cudaDestroyTextureObject(texObject: cudaTextureObject_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGetTextureObjectResourceDesc(texObject: cudaTextureObject_t | SupportsInt | None) -> tuple[cudaError_t, cudaResourceDesc]: ...
def cudaGetTextureObjectTextureDesc(texObject: cudaTextureObject_t | SupportsInt | None) -> tuple[cudaError_t, cudaTextureDesc]: ...
def cudaGetTextureObjectResourceViewDesc(texObject: cudaTextureObject_t | SupportsInt | None) -> tuple[cudaError_t, cudaResourceViewDesc]: ...
def cudaCreateSurfaceObject(pResDesc: cudaResourceDesc | None) -> tuple[cudaError_t, cudaSurfaceObject_t]: ...
def cudaDestroySurfaceObject(surfObject: cudaSurfaceObject_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGetSurfaceObjectResourceDesc(surfObject: cudaSurfaceObject_t | SupportsInt | None) -> tuple[cudaError_t, cudaResourceDesc]: ...
def cudaDriverGetVersion() -> tuple[cudaError_t, int]: ...
def cudaRuntimeGetVersion() -> tuple[cudaError_t, int]: ...
def cudaLogsRegisterCallback(callbackFunc: cudaLogsCallback_t | SupportsInt | None, userData: Pointer) -> tuple[cudaError_t, cudaLogsCallbackHandle]: ...
def cudaLogsUnregisterCallback(callback: cudaLogsCallbackHandle | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaLogsCurrent(flags: int) -> tuple[cudaError_t, cudaLogIterator]: ...
def cudaLogsDumpToFile(iterator: cudaLogIterator | SupportsInt | None, pathToFile: Text, flags: int) -> tuple[cudaError_t]: ...
def cudaLogsDumpToMemory(iterator: cudaLogIterator | SupportsInt | None, buffer: Pointer, size: int, flags: int) -> tuple[cudaError_t, int]: ...
def cudaGraphCreate(flags: int) -> tuple[cudaError_t, cudaGraph_t]: ...
def cudaGraphAddKernelNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, pNodeParams: cudaKernelNodeParams | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphKernelNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaKernelNodeParams]: ...
def cudaGraphKernelNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaKernelNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphKernelNodeCopyAttributes(hDst: cudaGraphNode_t | SupportsInt | None, hSrc: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphKernelNodeGetAttribute(hNode: cudaGraphNode_t | SupportsInt | None, attr: cudaLaunchAttributeID) -> tuple[cudaError_t, cudaLaunchAttributeValue]: ...
def cudaGraphKernelNodeSetAttribute(hNode: cudaGraphNode_t | SupportsInt | None, attr: cudaLaunchAttributeID, value: cudaLaunchAttributeValue | None) -> tuple[cudaError_t]: ...
def cudaGraphAddMemcpyNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, pCopyParams: cudaMemcpy3DParms | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphAddMemcpyNode1D(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphMemcpyNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaMemcpy3DParms]: ...
def cudaGraphMemcpyNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaMemcpy3DParms | None) -> tuple[cudaError_t]: ...
def cudaGraphMemcpyNodeSetParams1D(node: cudaGraphNode_t | SupportsInt | None, dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaGraphAddMemsetNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, pMemsetParams: cudaMemsetParams | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphMemsetNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaMemsetParams]: ...
def cudaGraphMemsetNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaMemsetParams | None) -> tuple[cudaError_t]: ...
def cudaGraphAddHostNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, pNodeParams: cudaHostNodeParams | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphHostNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaHostNodeParams]: ...
def cudaGraphHostNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaHostNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphAddChildGraphNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, childGraph: cudaGraph_t | SupportsInt | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphChildGraphNodeGetGraph(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaGraph_t]: ...
def cudaGraphAddEmptyNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphAddEventRecordNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphEventRecordNodeGetEvent(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaGraphEventRecordNodeSetEvent(node: cudaGraphNode_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphAddEventWaitNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphEventWaitNodeGetEvent(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaGraphEventWaitNodeSetEvent(node: cudaGraphNode_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphAddExternalSemaphoresSignalNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, nodeParams: cudaExternalSemaphoreSignalNodeParams | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphExternalSemaphoresSignalNodeGetParams(hNode: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaExternalSemaphoreSignalNodeParams]: ...
def cudaGraphExternalSemaphoresSignalNodeSetParams(hNode: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaExternalSemaphoreSignalNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphAddExternalSemaphoresWaitNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, nodeParams: cudaExternalSemaphoreWaitNodeParams | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphExternalSemaphoresWaitNodeGetParams(hNode: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaExternalSemaphoreWaitNodeParams]: ...
def cudaGraphExternalSemaphoresWaitNodeSetParams(hNode: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaExternalSemaphoreWaitNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphAddMemAllocNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, nodeParams: cudaMemAllocNodeParams | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphMemAllocNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaMemAllocNodeParams]: ...
def cudaGraphAddMemFreeNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, dptr: Pointer) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphMemFreeNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaDeviceGraphMemTrim(device: int) -> tuple[cudaError_t]: ...
def cudaDeviceGetGraphMemAttribute(*args: Any, **kwargs: Any) -> Any: ...
def cudaDeviceSetGraphMemAttribute(*args: Any, **kwargs: Any) -> Any: ...
def cudaGraphClone(originalGraph: cudaGraph_t | SupportsInt | None) -> tuple[cudaError_t, cudaGraph_t]: ...
def cudaGraphNodeFindInClone(originalNode: cudaGraphNode_t | SupportsInt | None, clonedGraph: cudaGraph_t | SupportsInt | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphNodeGetType(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, cudaGraphNodeType]: ...
def cudaGraphGetNodes(*args: Any, **kwargs: Any) -> Any: ...
def cudaGraphGetRootNodes(*args: Any, **kwargs: Any) -> Any: ...
def cudaGraphGetEdges(*args: Any, **kwargs: Any) -> Any: ...
def cudaGraphNodeGetDependencies(*args: Any, **kwargs: Any) -> Any: ...
def cudaGraphNodeGetDependentNodes(*args: Any, **kwargs: Any) -> Any: ...
def cudaGraphAddDependencies(graph: cudaGraph_t | SupportsInt | None, from_: Sequence[cudaGraphNode_t | SupportsInt | None] | None, to: Sequence[cudaGraphNode_t | SupportsInt | None] | None, edgeData: Sequence[cudaGraphEdgeData] | None, numDependencies: int) -> tuple[cudaError_t]: ...
def cudaGraphRemoveDependencies(graph: cudaGraph_t | SupportsInt | None, from_: Sequence[cudaGraphNode_t | SupportsInt | None] | None, to: Sequence[cudaGraphNode_t | SupportsInt | None] | None, edgeData: Sequence[cudaGraphEdgeData] | None, numDependencies: int) -> tuple[cudaError_t]: ...
def cudaGraphDestroyNode(node: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphInstantiate(graph: cudaGraph_t | SupportsInt | None, flags: int) -> tuple[cudaError_t, cudaGraphExec_t]: ...
def cudaGraphInstantiateWithFlags(graph: cudaGraph_t | SupportsInt | None, flags: int) -> tuple[cudaError_t, cudaGraphExec_t]: ...
def cudaGraphInstantiateWithParams(graph: cudaGraph_t | SupportsInt | None, instantiateParams: cudaGraphInstantiateParams | None) -> tuple[cudaError_t, cudaGraphExec_t]: ...
def cudaGraphExecGetFlags(graphExec: cudaGraphExec_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaGraphExecKernelNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaKernelNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphExecMemcpyNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaMemcpy3DParms | None) -> tuple[cudaError_t]: ...
def cudaGraphExecMemcpyNodeSetParams1D(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind) -> tuple[cudaError_t]: ...
def cudaGraphExecMemsetNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaMemsetParams | None) -> tuple[cudaError_t]: ...
def cudaGraphExecHostNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaHostNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphExecChildGraphNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, childGraph: cudaGraph_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphExecEventRecordNodeSetEvent(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphExecEventWaitNodeSetEvent(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphExecExternalSemaphoresSignalNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaExternalSemaphoreSignalNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphExecExternalSemaphoresWaitNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaExternalSemaphoreWaitNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphNodeSetEnabled(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, isEnabled: int) -> tuple[cudaError_t]: ...
def cudaGraphNodeGetEnabled(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaGraphExecUpdate(hGraphExec: cudaGraphExec_t | SupportsInt | None, hGraph: cudaGraph_t | SupportsInt | None) -> tuple[cudaError_t, cudaGraphExecUpdateResultInfo]: ...
def cudaGraphUpload(graphExec: cudaGraphExec_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphLaunch(graphExec: cudaGraphExec_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphExecDestroy(graphExec: cudaGraphExec_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphDestroy(graph: cudaGraph_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphDebugDotPrint(graph: cudaGraph_t | SupportsInt | None, path: Text, flags: int) -> tuple[cudaError_t]: ...
def cudaUserObjectCreate(ptr: Pointer, destroy: cudaHostFn_t | SupportsInt | None, initialRefcount: int, flags: int) -> tuple[cudaError_t, cudaUserObject_t]: ...
def cudaUserObjectRetain(object: cudaUserObject_t | SupportsInt | None, count: int) -> tuple[cudaError_t]: ...
def cudaUserObjectRelease(object: cudaUserObject_t | SupportsInt | None, count: int) -> tuple[cudaError_t]: ...
def cudaGraphRetainUserObject(graph: cudaGraph_t | SupportsInt | None, object: cudaUserObject_t | SupportsInt | None, count: int, flags: int) -> tuple[cudaError_t]: ...
def cudaGraphReleaseUserObject(graph: cudaGraph_t | SupportsInt | None, object: cudaUserObject_t | SupportsInt | None, count: int) -> tuple[cudaError_t]: ...
def cudaGraphAddNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, dependencyData: Sequence[cudaGraphEdgeData] | None, numDependencies: int, nodeParams: cudaGraphNodeParams | None) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaGraphNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphExecNodeSetParams(graphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaGraphNodeParams | None) -> tuple[cudaError_t]: ...
def cudaGraphConditionalHandleCreate(graph: cudaGraph_t | SupportsInt | None, defaultLaunchValue: int, flags: int) -> tuple[cudaError_t, cudaGraphConditionalHandle]: ...
def cudaGetDriverEntryPoint(symbol: Text, flags: int) -> tuple[cudaError_t, int, cudaDriverEntryPointQueryResult]: ...
def cudaGetDriverEntryPointByVersion(symbol: Text, cudaVersion: int, flags: int) -> tuple[cudaError_t, int, cudaDriverEntryPointQueryResult]: ...
def cudaLibraryLoadData(code: Pointer, jitOptions: Sequence[cudaJitOption] | None, jitOptionsValues: Sequence[Pointer] | None, numJitOptions: int, libraryOptions: Sequence[cudaLibraryOption] | None, libraryOptionValues: Sequence[Pointer] | None, numLibraryOptions: int) -> tuple[cudaError_t, cudaLibrary_t]: ...
def cudaLibraryLoadFromFile(fileName: Text, jitOptions: Sequence[cudaJitOption] | None, jitOptionsValues: Sequence[Pointer] | None, numJitOptions: int, libraryOptions: Sequence[cudaLibraryOption] | None, libraryOptionValues: Sequence[Pointer] | None, numLibraryOptions: int) -> tuple[cudaError_t, cudaLibrary_t]: ...
def cudaLibraryUnload(library: cudaLibrary_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaLibraryGetKernel(library: cudaLibrary_t | SupportsInt | None, name: Text) -> tuple[cudaError_t, cudaKernel_t]: ...
def cudaLibraryGetGlobal(library: cudaLibrary_t | SupportsInt | None, name: Text) -> tuple[cudaError_t, int, int]: ...
def cudaLibraryGetManaged(library: cudaLibrary_t | SupportsInt | None, name: Text) -> tuple[cudaError_t, int, int]: ...
def cudaLibraryGetUnifiedFunction(library: cudaLibrary_t | SupportsInt | None, symbol: Text) -> tuple[cudaError_t, int]: ...
def cudaLibraryGetKernelCount(lib: cudaLibrary_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaLibraryEnumerateKernels(numKernels: int, lib: cudaLibrary_t | SupportsInt | None) -> tuple[cudaError_t, cudaKernel_t]: ...
def cudaKernelSetAttributeForDevice(kernel: cudaKernel_t | SupportsInt | None, attr: cudaFuncAttribute, value: int, device: int) -> tuple[cudaError_t]: ...
def cudaGetExportTable(pExportTableId: CUuuid | None) -> tuple[cudaError_t, int]: ...
def cudaGetKernel(entryFuncAddr: Pointer) -> tuple[cudaError_t, cudaKernel_t]: ...
def cudaProfilerStart() -> tuple[cudaError_t]: ...
def cudaProfilerStop() -> tuple[cudaError_t]: ...
def cudaGLGetDevices(cudaDeviceCount: int, deviceList: cudaGLDeviceList) -> tuple[cudaError_t, int, list[int]]: ...
def cudaGraphicsGLRegisterImage(image: GLuint | SupportsInt | None, target: GLenum | SupportsInt | None, flags: int) -> tuple[cudaError_t, cudaGraphicsResource_t]: ...
def cudaGraphicsGLRegisterBuffer(buffer: GLuint | SupportsInt | None, flags: int) -> tuple[cudaError_t, cudaGraphicsResource_t]: ...
def cudaGLSetGLDevice(device: int) -> tuple[cudaError_t]: ...
def cudaGLRegisterBufferObject(bufObj: GLuint | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGLMapBufferObject(bufObj: GLuint | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaGLUnmapBufferObject(bufObj: GLuint | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGLUnregisterBufferObject(bufObj: GLuint | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGLSetBufferObjectMapFlags(bufObj: GLuint | SupportsInt | None, flags: int) -> tuple[cudaError_t]: ...
def cudaGLMapBufferObjectAsync(bufObj: GLuint | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaGLUnmapBufferObjectAsync(bufObj: GLuint | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphicsEGLRegisterImage(image: EGLImageKHR | SupportsInt | None, flags: int) -> tuple[cudaError_t, cudaGraphicsResource_t]: ...
def cudaEGLStreamConsumerConnect(eglStream: EGLStreamKHR | SupportsInt | None) -> tuple[cudaError_t, cudaEglStreamConnection]: ...
def cudaEGLStreamConsumerConnectWithFlags(eglStream: EGLStreamKHR | SupportsInt | None, flags: int) -> tuple[cudaError_t, cudaEglStreamConnection]: ...
def cudaEGLStreamConsumerDisconnect(conn: cudaEglStreamConnection | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaEGLStreamConsumerAcquireFrame(conn: cudaEglStreamConnection | SupportsInt | None, pStream: cudaStream_t | SupportsInt | None, timeout: int) -> tuple[cudaError_t, cudaGraphicsResource_t]: ...
def cudaEGLStreamConsumerReleaseFrame(conn: cudaEglStreamConnection | SupportsInt | None, pCudaResource: cudaGraphicsResource_t | SupportsInt | None, pStream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaEGLStreamProducerConnect(eglStream: EGLStreamKHR | SupportsInt | None, width: EGLint | SupportsInt | None, height: EGLint | SupportsInt | None) -> tuple[cudaError_t, cudaEglStreamConnection]: ...
def cudaEGLStreamProducerDisconnect(conn: cudaEglStreamConnection | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaEGLStreamProducerReturnFrame(conn: cudaEglStreamConnection | SupportsInt | None, eglframe: cudaEglFrame | None, pStream: cudaStream_t | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphicsResourceGetMappedEglFrame(resource: cudaGraphicsResource_t | SupportsInt | None, index: int, mipLevel: int) -> tuple[cudaError_t, cudaEglFrame]: ...
def cudaEventCreateFromEGLSync(eglSync: EGLSyncKHR | SupportsInt | None, flags: int) -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaVDPAUGetDevice(vdpDevice: VdpDevice | SupportsInt | None, vdpGetProcAddress: VdpGetProcAddress | SupportsInt | None) -> tuple[cudaError_t, int]: ...
def cudaVDPAUSetVDPAUDevice(device: int, vdpDevice: VdpDevice | SupportsInt | None, vdpGetProcAddress: VdpGetProcAddress | SupportsInt | None) -> tuple[cudaError_t]: ...
def cudaGraphicsVDPAURegisterVideoSurface(vdpSurface: VdpVideoSurface | SupportsInt | None, flags: int) -> tuple[cudaError_t, cudaGraphicsResource_t]: ...
def cudaGraphicsVDPAURegisterOutputSurface(vdpSurface: VdpOutputSurface | SupportsInt | None, flags: int) -> tuple[cudaError_t, cudaGraphicsResource_t]: ...
def sizeof(objType: type) -> int: ...

class checked:
    @staticmethod
    def cudaDeviceReset() -> None: ...
    @staticmethod
    def cudaDeviceSynchronize() -> None: ...
    @staticmethod
    def cudaDeviceSetLimit(limit: cudaLimit, value: int) -> None: ...
    @staticmethod
    def cudaDeviceGetLimit(limit: cudaLimit) -> int: ...
    @staticmethod
    def cudaDeviceGetTexture1DLinearMaxWidth(fmtDesc: cudaChannelFormatDesc | None, device: int) -> int: ...
    @staticmethod
    def cudaDeviceGetCacheConfig() -> cudaFuncCache: ...
    @staticmethod
    def cudaDeviceGetStreamPriorityRange() -> tuple[int, int]: ...
    @staticmethod
    def cudaDeviceSetCacheConfig(cacheConfig: cudaFuncCache) -> None: ...
    @staticmethod
    def cudaDeviceGetByPCIBusId(pciBusId: Text) -> int: ...
    @staticmethod
    def cudaDeviceGetPCIBusId(length: int, device: int) -> bytes: ...
    @staticmethod
    def cudaIpcGetEventHandle(event: cudaEvent_t | SupportsInt | None) -> cudaIpcEventHandle_t: ...
    @staticmethod
    def cudaIpcOpenEventHandle(handle: cudaIpcEventHandle_t) -> cudaEvent_t: ...
    @staticmethod
    def cudaIpcGetMemHandle(devPtr: Pointer) -> cudaIpcMemHandle_t: ...
    @staticmethod
    def cudaIpcOpenMemHandle(handle: cudaIpcMemHandle_t, flags: int) -> int: ...
    @staticmethod
    def cudaIpcCloseMemHandle(devPtr: Pointer) -> None: ...
    @staticmethod
    def cudaDeviceFlushGPUDirectRDMAWrites(target: cudaFlushGPUDirectRDMAWritesTarget, scope: cudaFlushGPUDirectRDMAWritesScope) -> None: ...
    @staticmethod
    def cudaDeviceRegisterAsyncNotification(device: int, callbackFunc: cudaAsyncCallback | SupportsInt | None, userData: Pointer) -> cudaAsyncCallbackHandle_t: ...
    @staticmethod
    def cudaDeviceUnregisterAsyncNotification(device: int, callback: cudaAsyncCallbackHandle_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaDeviceGetSharedMemConfig() -> cudaSharedMemConfig: ...
    @staticmethod
    def cudaDeviceSetSharedMemConfig(config: cudaSharedMemConfig) -> None: ...
    @staticmethod
    def cudaGetLastError() -> None: ...
    @staticmethod
    def cudaPeekAtLastError() -> None: ...
    @staticmethod
    def cudaGetErrorName(error: cudaError_t) -> None: ...
    @staticmethod
    def cudaGetErrorString(error: cudaError_t) -> None: ...
    @staticmethod
    def cudaGetDeviceCount() -> int: ...
    @staticmethod
    def cudaGetDeviceProperties(device: int) -> cudaDeviceProp: ...
    @staticmethod
    def cudaDeviceGetAttribute(attr: cudaDeviceAttr, device: int) -> int: ...
    @staticmethod
    def cudaDeviceGetHostAtomicCapabilities(operations: Sequence[cudaAtomicOperation] | None, count: int, device: int) -> list[int]: ...
    @staticmethod
    def cudaDeviceGetDefaultMemPool(device: int) -> cudaMemPool_t: ...
    @staticmethod
    def cudaDeviceSetMemPool(device: int, memPool: cudaMemPool_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaDeviceGetMemPool(device: int) -> cudaMemPool_t: ...
    @staticmethod
    def cudaDeviceGetNvSciSyncAttributes(nvSciSyncAttrList: Pointer, device: int, flags: int) -> None: ...
    @staticmethod
    def cudaDeviceGetP2PAttribute(attr: cudaDeviceP2PAttr, srcDevice: int, dstDevice: int) -> int: ...
    @staticmethod
    def cudaDeviceGetP2PAtomicCapabilities(operations: Sequence[cudaAtomicOperation] | None, count: int, srcDevice: int, dstDevice: int) -> list[int]: ...
    @staticmethod
    def cudaChooseDevice(prop: cudaDeviceProp | None) -> int: ...
    @staticmethod
    def cudaInitDevice(device: int, deviceFlags: int, flags: int) -> None: ...
    @staticmethod
    def cudaSetDevice(device: int) -> None: ...
    @staticmethod
    def cudaGetDevice() -> int: ...
    @staticmethod
    def cudaSetDeviceFlags(flags: int) -> None: ...
    @staticmethod
    def cudaGetDeviceFlags() -> int: ...
    @staticmethod
    def cudaStreamCreate() -> cudaStream_t: ...
    @staticmethod
    def cudaStreamCreateWithFlags(flags: int) -> cudaStream_t: ...
    @staticmethod
    def cudaStreamCreateWithPriority(flags: int, priority: int) -> cudaStream_t: ...
    @staticmethod
    def cudaStreamGetPriority(hStream: cudaStream_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaStreamGetFlags(hStream: cudaStream_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaStreamGetId(hStream: cudaStream_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaStreamGetDevice(hStream: cudaStream_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaCtxResetPersistingL2Cache() -> None: ...
    @staticmethod
    def cudaStreamCopyAttributes(dst: cudaStream_t | SupportsInt | None, src: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaStreamGetAttribute(hStream: cudaStream_t | SupportsInt | None, attr: cudaLaunchAttributeID) -> cudaLaunchAttributeValue: ...
    @staticmethod
    def cudaStreamSetAttribute(hStream: cudaStream_t | SupportsInt | None, attr: cudaLaunchAttributeID, value: cudaLaunchAttributeValue | None) -> None: ...
    @staticmethod
    def cudaStreamDestroy(stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaStreamWaitEvent(stream: cudaStream_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None, flags: int) -> None: ...
    @staticmethod
    def cudaStreamAddCallback(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaStreamSynchronize(stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaStreamQuery(stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaStreamAttachMemAsync(stream: cudaStream_t | SupportsInt | None, devPtr: Pointer, length: int, flags: int) -> None: ...
    @staticmethod
    def cudaStreamBeginCapture(stream: cudaStream_t | SupportsInt | None, mode: cudaStreamCaptureMode) -> None: ...
    @staticmethod
    def cudaStreamBeginCaptureToGraph(stream: cudaStream_t | SupportsInt | None, graph: cudaGraph_t | SupportsInt | None, dependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, dependencyData: Sequence[cudaGraphEdgeData] | None, numDependencies: int, mode: cudaStreamCaptureMode) -> None: ...
    @staticmethod
    def cudaThreadExchangeStreamCaptureMode(mode: cudaStreamCaptureMode) -> cudaStreamCaptureMode: ...
    @staticmethod
    def cudaStreamEndCapture(stream: cudaStream_t | SupportsInt | None) -> cudaGraph_t: ...
    @staticmethod
    def cudaStreamIsCapturing(stream: cudaStream_t | SupportsInt | None) -> cudaStreamCaptureStatus: ...
    @staticmethod
    def cudaStreamGetCaptureInfo(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaStreamUpdateCaptureDependencies(stream: cudaStream_t | SupportsInt | None, dependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, dependencyData: Sequence[cudaGraphEdgeData] | None, numDependencies: int, flags: int) -> None: ...
    @staticmethod
    def cudaEventCreate() -> cudaEvent_t: ...
    @staticmethod
    def cudaEventCreateWithFlags(flags: int) -> cudaEvent_t: ...
    @staticmethod
    def cudaEventRecord(event: cudaEvent_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaEventRecordWithFlags(event: cudaEvent_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None, flags: int) -> None: ...
    @staticmethod
    def cudaEventQuery(event: cudaEvent_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaEventSynchronize(event: cudaEvent_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaEventDestroy(event: cudaEvent_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaEventElapsedTime(start: cudaEvent_t | SupportsInt | None, end: cudaEvent_t | SupportsInt | None) -> float: ...
    @staticmethod
    def cudaImportExternalMemory(memHandleDesc: cudaExternalMemoryHandleDesc | None) -> cudaExternalMemory_t: ...
    @staticmethod
    def cudaExternalMemoryGetMappedBuffer(extMem: cudaExternalMemory_t | SupportsInt | None, bufferDesc: cudaExternalMemoryBufferDesc | None) -> int: ...
    @staticmethod
    def cudaExternalMemoryGetMappedMipmappedArray(extMem: cudaExternalMemory_t | SupportsInt | None, mipmapDesc: cudaExternalMemoryMipmappedArrayDesc | None) -> cudaMipmappedArray_t: ...
    @staticmethod
    def cudaDestroyExternalMemory(extMem: cudaExternalMemory_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaImportExternalSemaphore(semHandleDesc: cudaExternalSemaphoreHandleDesc | None) -> cudaExternalSemaphore_t: ...
    @staticmethod
    def cudaSignalExternalSemaphoresAsync(extSemArray: Sequence[cudaExternalSemaphore_t | SupportsInt | None] | None, paramsArray: Sequence[cudaExternalSemaphoreSignalParams] | None, numExtSems: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaWaitExternalSemaphoresAsync(extSemArray: Sequence[cudaExternalSemaphore_t | SupportsInt | None] | None, paramsArray: Sequence[cudaExternalSemaphoreWaitParams] | None, numExtSems: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaDestroyExternalSemaphore(extSem: cudaExternalSemaphore_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaFuncSetCacheConfig(func: Pointer, cacheConfig: cudaFuncCache) -> None: ...
    @staticmethod
    def cudaFuncGetAttributes(func: Pointer) -> cudaFuncAttributes: ...
    @staticmethod
    def cudaFuncSetAttribute(func: Pointer, attr: cudaFuncAttribute, value: int) -> None: ...
    @staticmethod
    def cudaLaunchHostFunc(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaFuncSetSharedMemConfig(func: Pointer, config: cudaSharedMemConfig) -> None: ...
    @staticmethod
    def cudaOccupancyMaxActiveBlocksPerMultiprocessor(func: Pointer, blockSize: int, dynamicSMemSize: int) -> int: ...
    @staticmethod
    def cudaOccupancyAvailableDynamicSMemPerBlock(func: Pointer, numBlocks: int, blockSize: int) -> int: ...
    @staticmethod
    def cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(func: Pointer, blockSize: int, dynamicSMemSize: int, flags: int) -> int: ...
    @staticmethod
    def cudaMallocManaged(size: int, flags: int) -> int: ...
    @staticmethod
    def cudaMalloc(size: int) -> int: ...
    @staticmethod
    def cudaMallocHost(size: int) -> int: ...
    @staticmethod
    def cudaMallocPitch(width: int, height: int) -> tuple[int, int]: ...
    @staticmethod
    def cudaMallocArray(desc: cudaChannelFormatDesc | None, width: int, height: int, flags: int) -> cudaArray_t: ...
    @staticmethod
    def cudaFree(devPtr: Pointer) -> None: ...
    @staticmethod
    def cudaFreeHost(ptr: Pointer) -> None: ...
    @staticmethod
    def cudaFreeArray(array: cudaArray_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaFreeMipmappedArray(mipmappedArray: cudaMipmappedArray_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaHostAlloc(size: int, flags: int) -> int: ...
    @staticmethod
    def cudaHostRegister(ptr: Pointer, size: int, flags: int) -> None: ...
    @staticmethod
    def cudaHostUnregister(ptr: Pointer) -> None: ...
    @staticmethod
    def cudaHostGetDevicePointer(pHost: Pointer, flags: int) -> int: ...
    @staticmethod
    def cudaHostGetFlags(pHost: Pointer) -> int: ...
    @staticmethod
    def cudaMalloc3D(extent: cudaExtent) -> cudaPitchedPtr: ...
    @staticmethod
    def cudaMalloc3DArray(desc: cudaChannelFormatDesc | None, extent: cudaExtent, flags: int) -> cudaArray_t: ...
    @staticmethod
    def cudaMallocMipmappedArray(desc: cudaChannelFormatDesc | None, extent: cudaExtent, numLevels: int, flags: int) -> cudaMipmappedArray_t: ...
    @staticmethod
    def cudaGetMipmappedArrayLevel(mipmappedArray: cudaMipmappedArray_const_t | SupportsInt | None, level: int) -> cudaArray_t: ...
    @staticmethod
    def cudaMemcpy3D(p: cudaMemcpy3DParms | None) -> None: ...
    @staticmethod
    def cudaMemcpy3DPeer(p: cudaMemcpy3DPeerParms | None) -> None: ...
    @staticmethod
    def cudaMemcpy3DAsync(p: cudaMemcpy3DParms | None, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemcpy3DPeerAsync(p: cudaMemcpy3DPeerParms | None, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemGetInfo() -> tuple[int, int]: ...
    @staticmethod
    def cudaArrayGetInfo(array: cudaArray_t | SupportsInt | None) -> tuple[cudaChannelFormatDesc, cudaExtent, int]: ...
    @staticmethod
    def cudaArrayGetPlane(hArray: cudaArray_t | SupportsInt | None, planeIdx: int) -> cudaArray_t: ...
    @staticmethod
    def cudaArrayGetMemoryRequirements(array: cudaArray_t | SupportsInt | None, device: int) -> cudaArrayMemoryRequirements: ...
    @staticmethod
    def cudaMipmappedArrayGetMemoryRequirements(mipmap: cudaMipmappedArray_t | SupportsInt | None, device: int) -> cudaArrayMemoryRequirements: ...
    @staticmethod
    def cudaArrayGetSparseProperties(array: cudaArray_t | SupportsInt | None) -> cudaArraySparseProperties: ...
    @staticmethod
    def cudaMipmappedArrayGetSparseProperties(mipmap: cudaMipmappedArray_t | SupportsInt | None) -> cudaArraySparseProperties: ...
    @staticmethod
    def cudaMemcpy(dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaMemcpyPeer(dst: Pointer, dstDevice: int, src: Pointer, srcDevice: int, count: int) -> None: ...
    @staticmethod
    def cudaMemcpy2D(dst: Pointer, dpitch: int, src: Pointer, spitch: int, width: int, height: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaMemcpy2DToArray(dst: cudaArray_t | SupportsInt | None, wOffset: int, hOffset: int, src: Pointer, spitch: int, width: int, height: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaMemcpy2DFromArray(dst: Pointer, dpitch: int, src: cudaArray_const_t | SupportsInt | None, wOffset: int, hOffset: int, width: int, height: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaMemcpy2DArrayToArray(dst: cudaArray_t | SupportsInt | None, wOffsetDst: int, hOffsetDst: int, src: cudaArray_const_t | SupportsInt | None, wOffsetSrc: int, hOffsetSrc: int, width: int, height: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaMemcpyAsync(dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemcpyPeerAsync(dst: Pointer, dstDevice: int, src: Pointer, srcDevice: int, count: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemcpyBatchAsync(dsts: Sequence[Pointer] | None, srcs: Sequence[Pointer] | None, sizes: Sequence[int] | None, count: int, attrs: Sequence[cudaMemcpyAttributes] | None, attrsIdxs: Sequence[int] | None, numAttrs: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemcpy3DBatchAsync(numOps: int, opList: Sequence[cudaMemcpy3DBatchOp] | None, flags: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemcpy2DAsync(dst: Pointer, dpitch: int, src: Pointer, spitch: int, width: int, height: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemcpy2DToArrayAsync(dst: cudaArray_t | SupportsInt | None, wOffset: int, hOffset: int, src: Pointer, spitch: int, width: int, height: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemcpy2DFromArrayAsync(dst: Pointer, dpitch: int, src: cudaArray_const_t | SupportsInt | None, wOffset: int, hOffset: int, width: int, height: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemset(devPtr: Pointer, value: int, count: int) -> None: ...
    @staticmethod
    def cudaMemset2D(devPtr: Pointer, pitch: int, value: int, width: int, height: int) -> None: ...
    @staticmethod
    def cudaMemset3D(pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent) -> None: ...
    @staticmethod
    def cudaMemsetAsync(devPtr: Pointer, value: int, count: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemset2DAsync(devPtr: Pointer, pitch: int, value: int, width: int, height: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemset3DAsync(pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemPrefetchAsync(devPtr: Pointer, count: int, location: cudaMemLocation, flags: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemPrefetchBatchAsync(dptrs: Sequence[Pointer] | None, sizes: Sequence[int] | None, count: int, prefetchLocs: Sequence[cudaMemLocation] | None, prefetchLocIdxs: Sequence[int] | None, numPrefetchLocs: int, flags: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemDiscardBatchAsync(dptrs: Sequence[Pointer] | None, sizes: Sequence[int] | None, count: int, flags: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemDiscardAndPrefetchBatchAsync(dptrs: Sequence[Pointer] | None, sizes: Sequence[int] | None, count: int, prefetchLocs: Sequence[cudaMemLocation] | None, prefetchLocIdxs: Sequence[int] | None, numPrefetchLocs: int, flags: int, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemAdvise(devPtr: Pointer, count: int, advice: cudaMemoryAdvise, location: cudaMemLocation) -> None: ...
    @staticmethod
    def cudaMemRangeGetAttribute(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaMemRangeGetAttributes(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaMemcpyToArray(dst: cudaArray_t | SupportsInt | None, wOffset: int, hOffset: int, src: Pointer, count: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaMemcpyFromArray(dst: Pointer, src: cudaArray_const_t | SupportsInt | None, wOffset: int, hOffset: int, count: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaMemcpyArrayToArray(dst: cudaArray_t | SupportsInt | None, wOffsetDst: int, hOffsetDst: int, src: cudaArray_const_t | SupportsInt | None, wOffsetSrc: int, hOffsetSrc: int, count: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaMemcpyToArrayAsync(dst: cudaArray_t | SupportsInt | None, wOffset: int, hOffset: int, src: Pointer, count: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemcpyFromArrayAsync(dst: Pointer, src: cudaArray_const_t | SupportsInt | None, wOffset: int, hOffset: int, count: int, kind: cudaMemcpyKind, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMallocAsync(size: int, hStream: cudaStream_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaFreeAsync(devPtr: Pointer, hStream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemPoolTrimTo(memPool: cudaMemPool_t | SupportsInt | None, minBytesToKeep: int) -> None: ...
    @staticmethod
    def cudaMemPoolSetAttribute(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaMemPoolGetAttribute(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaMemPoolSetAccess(memPool: cudaMemPool_t | SupportsInt | None, descList: Sequence[cudaMemAccessDesc] | None, count: int) -> None: ...
    @staticmethod
    def cudaMemPoolGetAccess(memPool: cudaMemPool_t | SupportsInt | None, location: cudaMemLocation | None) -> cudaMemAccessFlags: ...
    @staticmethod
    def cudaMemPoolCreate(poolProps: cudaMemPoolProps | None) -> cudaMemPool_t: ...
    @staticmethod
    def cudaMemPoolDestroy(memPool: cudaMemPool_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMemGetDefaultMemPool(location: cudaMemLocation | None, typename: cudaMemAllocationType) -> cudaMemPool_t: ...
    @staticmethod
    def cudaMemGetMemPool(location: cudaMemLocation | None, typename: cudaMemAllocationType) -> cudaMemPool_t: ...
    @staticmethod
    def cudaMemSetMemPool(location: cudaMemLocation | None, typename: cudaMemAllocationType, memPool: cudaMemPool_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaMallocFromPoolAsync(size: int, memPool: cudaMemPool_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaMemPoolExportToShareableHandle(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaMemPoolImportFromShareableHandle(shareableHandle: Pointer, handleType: cudaMemAllocationHandleType, flags: int) -> cudaMemPool_t: ...
    @staticmethod
    def cudaMemPoolExportPointer(ptr: Pointer) -> cudaMemPoolPtrExportData: ...
    @staticmethod
    def cudaMemPoolImportPointer(memPool: cudaMemPool_t | SupportsInt | None, exportData: cudaMemPoolPtrExportData | None) -> int: ...
    @staticmethod
    def cudaPointerGetAttributes(ptr: Pointer) -> cudaPointerAttributes: ...
    @staticmethod
    def cudaDeviceCanAccessPeer(device: int, peerDevice: int) -> int: ...
    @staticmethod
    def cudaDeviceEnablePeerAccess(peerDevice: int, flags: int) -> None: ...
    @staticmethod
    def cudaDeviceDisablePeerAccess(peerDevice: int) -> None: ...
    @staticmethod
    def cudaGraphicsUnregisterResource(resource: cudaGraphicsResource_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphicsResourceSetMapFlags(resource: cudaGraphicsResource_t | SupportsInt | None, flags: int) -> None: ...
    @staticmethod
    def cudaGraphicsMapResources(count: int, resources: Sequence[cudaGraphicsResource_t | SupportsInt | None] | None, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphicsUnmapResources(count: int, resources: Sequence[cudaGraphicsResource_t | SupportsInt | None] | None, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphicsResourceGetMappedPointer(resource: cudaGraphicsResource_t | SupportsInt | None) -> tuple[int, int]: ...
    @staticmethod
    def cudaGraphicsSubResourceGetMappedArray(resource: cudaGraphicsResource_t | SupportsInt | None, arrayIndex: int, mipLevel: int) -> cudaArray_t: ...
    @staticmethod
    def cudaGraphicsResourceGetMappedMipmappedArray(resource: cudaGraphicsResource_t | SupportsInt | None) -> cudaMipmappedArray_t: ...
    @staticmethod
    def cudaGetChannelDesc(array: cudaArray_const_t | SupportsInt | None) -> cudaChannelFormatDesc: ...
    @staticmethod
    def cudaCreateChannelDesc(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaCreateTextureObject(pResDesc: cudaResourceDesc | None, pTexDesc: cudaTextureDesc | None, pResViewDesc: cudaResourceViewDesc | None) -> cudaTextureObject_t: ...
    @staticmethod
    def cudaDestroyTextureObject(texObject: cudaTextureObject_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGetTextureObjectResourceDesc(texObject: cudaTextureObject_t | SupportsInt | None) -> cudaResourceDesc: ...
    @staticmethod
    def cudaGetTextureObjectTextureDesc(texObject: cudaTextureObject_t | SupportsInt | None) -> cudaTextureDesc: ...
    @staticmethod
    def cudaGetTextureObjectResourceViewDesc(texObject: cudaTextureObject_t | SupportsInt | None) -> cudaResourceViewDesc: ...
    @staticmethod
    def cudaCreateSurfaceObject(pResDesc: cudaResourceDesc | None) -> cudaSurfaceObject_t: ...
    @staticmethod
    def cudaDestroySurfaceObject(surfObject: cudaSurfaceObject_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGetSurfaceObjectResourceDesc(surfObject: cudaSurfaceObject_t | SupportsInt | None) -> cudaResourceDesc: ...
    @staticmethod
    def cudaDriverGetVersion() -> int: ...
    @staticmethod
    def cudaRuntimeGetVersion() -> int: ...
    @staticmethod
    def cudaLogsRegisterCallback(callbackFunc: cudaLogsCallback_t | SupportsInt | None, userData: Pointer) -> cudaLogsCallbackHandle: ...
    @staticmethod
    def cudaLogsUnregisterCallback(callback: cudaLogsCallbackHandle | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaLogsCurrent(flags: int) -> cudaLogIterator: ...
    @staticmethod
    def cudaLogsDumpToFile(iterator: cudaLogIterator | SupportsInt | None, pathToFile: Text, flags: int) -> None: ...
    @staticmethod
    def cudaLogsDumpToMemory(iterator: cudaLogIterator | SupportsInt | None, buffer: Pointer, size: int, flags: int) -> int: ...
    @staticmethod
    def cudaGraphCreate(flags: int) -> cudaGraph_t: ...
    @staticmethod
    def cudaGraphAddKernelNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, pNodeParams: cudaKernelNodeParams | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphKernelNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> cudaKernelNodeParams: ...
    @staticmethod
    def cudaGraphKernelNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaKernelNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphKernelNodeCopyAttributes(hDst: cudaGraphNode_t | SupportsInt | None, hSrc: cudaGraphNode_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphKernelNodeGetAttribute(hNode: cudaGraphNode_t | SupportsInt | None, attr: cudaLaunchAttributeID) -> cudaLaunchAttributeValue: ...
    @staticmethod
    def cudaGraphKernelNodeSetAttribute(hNode: cudaGraphNode_t | SupportsInt | None, attr: cudaLaunchAttributeID, value: cudaLaunchAttributeValue | None) -> None: ...
    @staticmethod
    def cudaGraphAddMemcpyNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, pCopyParams: cudaMemcpy3DParms | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphAddMemcpyNode1D(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphMemcpyNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> cudaMemcpy3DParms: ...
    @staticmethod
    def cudaGraphMemcpyNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaMemcpy3DParms | None) -> None: ...
    @staticmethod
    def cudaGraphMemcpyNodeSetParams1D(node: cudaGraphNode_t | SupportsInt | None, dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaGraphAddMemsetNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, pMemsetParams: cudaMemsetParams | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphMemsetNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> cudaMemsetParams: ...
    @staticmethod
    def cudaGraphMemsetNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaMemsetParams | None) -> None: ...
    @staticmethod
    def cudaGraphAddHostNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, pNodeParams: cudaHostNodeParams | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphHostNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> cudaHostNodeParams: ...
    @staticmethod
    def cudaGraphHostNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaHostNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphAddChildGraphNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, childGraph: cudaGraph_t | SupportsInt | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphChildGraphNodeGetGraph(node: cudaGraphNode_t | SupportsInt | None) -> cudaGraph_t: ...
    @staticmethod
    def cudaGraphAddEmptyNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphAddEventRecordNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, event: cudaEvent_t | SupportsInt | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphEventRecordNodeGetEvent(node: cudaGraphNode_t | SupportsInt | None) -> cudaEvent_t: ...
    @staticmethod
    def cudaGraphEventRecordNodeSetEvent(node: cudaGraphNode_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphAddEventWaitNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, event: cudaEvent_t | SupportsInt | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphEventWaitNodeGetEvent(node: cudaGraphNode_t | SupportsInt | None) -> cudaEvent_t: ...
    @staticmethod
    def cudaGraphEventWaitNodeSetEvent(node: cudaGraphNode_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphAddExternalSemaphoresSignalNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, nodeParams: cudaExternalSemaphoreSignalNodeParams | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphExternalSemaphoresSignalNodeGetParams(hNode: cudaGraphNode_t | SupportsInt | None) -> cudaExternalSemaphoreSignalNodeParams: ...
    @staticmethod
    def cudaGraphExternalSemaphoresSignalNodeSetParams(hNode: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaExternalSemaphoreSignalNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphAddExternalSemaphoresWaitNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, nodeParams: cudaExternalSemaphoreWaitNodeParams | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphExternalSemaphoresWaitNodeGetParams(hNode: cudaGraphNode_t | SupportsInt | None) -> cudaExternalSemaphoreWaitNodeParams: ...
    @staticmethod
    def cudaGraphExternalSemaphoresWaitNodeSetParams(hNode: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaExternalSemaphoreWaitNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphAddMemAllocNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, nodeParams: cudaMemAllocNodeParams | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphMemAllocNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> cudaMemAllocNodeParams: ...
    @staticmethod
    def cudaGraphAddMemFreeNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, numDependencies: int, dptr: Pointer) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphMemFreeNodeGetParams(node: cudaGraphNode_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaDeviceGraphMemTrim(device: int) -> None: ...
    @staticmethod
    def cudaDeviceGetGraphMemAttribute(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaDeviceSetGraphMemAttribute(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaGraphClone(originalGraph: cudaGraph_t | SupportsInt | None) -> cudaGraph_t: ...
    @staticmethod
    def cudaGraphNodeFindInClone(originalNode: cudaGraphNode_t | SupportsInt | None, clonedGraph: cudaGraph_t | SupportsInt | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphNodeGetType(node: cudaGraphNode_t | SupportsInt | None) -> cudaGraphNodeType: ...
    @staticmethod
    def cudaGraphGetNodes(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaGraphGetRootNodes(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaGraphGetEdges(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaGraphNodeGetDependencies(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaGraphNodeGetDependentNodes(*args: Any, **kwargs: Any) -> Any: ...
    @staticmethod
    def cudaGraphAddDependencies(graph: cudaGraph_t | SupportsInt | None, from_: Sequence[cudaGraphNode_t | SupportsInt | None] | None, to: Sequence[cudaGraphNode_t | SupportsInt | None] | None, edgeData: Sequence[cudaGraphEdgeData] | None, numDependencies: int) -> None: ...
    @staticmethod
    def cudaGraphRemoveDependencies(graph: cudaGraph_t | SupportsInt | None, from_: Sequence[cudaGraphNode_t | SupportsInt | None] | None, to: Sequence[cudaGraphNode_t | SupportsInt | None] | None, edgeData: Sequence[cudaGraphEdgeData] | None, numDependencies: int) -> None: ...
    @staticmethod
    def cudaGraphDestroyNode(node: cudaGraphNode_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphInstantiate(graph: cudaGraph_t | SupportsInt | None, flags: int) -> cudaGraphExec_t: ...
    @staticmethod
    def cudaGraphInstantiateWithFlags(graph: cudaGraph_t | SupportsInt | None, flags: int) -> cudaGraphExec_t: ...
    @staticmethod
    def cudaGraphInstantiateWithParams(graph: cudaGraph_t | SupportsInt | None, instantiateParams: cudaGraphInstantiateParams | None) -> cudaGraphExec_t: ...
    @staticmethod
    def cudaGraphExecGetFlags(graphExec: cudaGraphExec_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaGraphExecKernelNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaKernelNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphExecMemcpyNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaMemcpy3DParms | None) -> None: ...
    @staticmethod
    def cudaGraphExecMemcpyNodeSetParams1D(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, dst: Pointer, src: Pointer, count: int, kind: cudaMemcpyKind) -> None: ...
    @staticmethod
    def cudaGraphExecMemsetNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaMemsetParams | None) -> None: ...
    @staticmethod
    def cudaGraphExecHostNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, pNodeParams: cudaHostNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphExecChildGraphNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, childGraph: cudaGraph_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphExecEventRecordNodeSetEvent(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphExecEventWaitNodeSetEvent(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, event: cudaEvent_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphExecExternalSemaphoresSignalNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaExternalSemaphoreSignalNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphExecExternalSemaphoresWaitNodeSetParams(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaExternalSemaphoreWaitNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphNodeSetEnabled(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None, isEnabled: int) -> None: ...
    @staticmethod
    def cudaGraphNodeGetEnabled(hGraphExec: cudaGraphExec_t | SupportsInt | None, hNode: cudaGraphNode_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaGraphExecUpdate(hGraphExec: cudaGraphExec_t | SupportsInt | None, hGraph: cudaGraph_t | SupportsInt | None) -> cudaGraphExecUpdateResultInfo: ...
    @staticmethod
    def cudaGraphUpload(graphExec: cudaGraphExec_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphLaunch(graphExec: cudaGraphExec_t | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphExecDestroy(graphExec: cudaGraphExec_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphDestroy(graph: cudaGraph_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphDebugDotPrint(graph: cudaGraph_t | SupportsInt | None, path: Text, flags: int) -> None: ...
    @staticmethod
    def cudaUserObjectCreate(ptr: Pointer, destroy: cudaHostFn_t | SupportsInt | None, initialRefcount: int, flags: int) -> cudaUserObject_t: ...
    @staticmethod
    def cudaUserObjectRetain(object: cudaUserObject_t | SupportsInt | None, count: int) -> None: ...
    @staticmethod
    def cudaUserObjectRelease(object: cudaUserObject_t | SupportsInt | None, count: int) -> None: ...
    @staticmethod
    def cudaGraphRetainUserObject(graph: cudaGraph_t | SupportsInt | None, object: cudaUserObject_t | SupportsInt | None, count: int, flags: int) -> None: ...
    @staticmethod
    def cudaGraphReleaseUserObject(graph: cudaGraph_t | SupportsInt | None, object: cudaUserObject_t | SupportsInt | None, count: int) -> None: ...
    @staticmethod
    def cudaGraphAddNode(graph: cudaGraph_t | SupportsInt | None, pDependencies: Sequence[cudaGraphNode_t | SupportsInt | None] | None, dependencyData: Sequence[cudaGraphEdgeData] | None, numDependencies: int, nodeParams: cudaGraphNodeParams | None) -> cudaGraphNode_t: ...
    @staticmethod
    def cudaGraphNodeSetParams(node: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaGraphNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphExecNodeSetParams(graphExec: cudaGraphExec_t | SupportsInt | None, node: cudaGraphNode_t | SupportsInt | None, nodeParams: cudaGraphNodeParams | None) -> None: ...
    @staticmethod
    def cudaGraphConditionalHandleCreate(graph: cudaGraph_t | SupportsInt | None, defaultLaunchValue: int, flags: int) -> cudaGraphConditionalHandle: ...
    @staticmethod
    def cudaGetDriverEntryPoint(symbol: Text, flags: int) -> tuple[int, cudaDriverEntryPointQueryResult]: ...
    @staticmethod
    def cudaGetDriverEntryPointByVersion(symbol: Text, cudaVersion: int, flags: int) -> tuple[int, cudaDriverEntryPointQueryResult]: ...
    @staticmethod
    def cudaLibraryLoadData(code: Pointer, jitOptions: Sequence[cudaJitOption] | None, jitOptionsValues: Sequence[Pointer] | None, numJitOptions: int, libraryOptions: Sequence[cudaLibraryOption] | None, libraryOptionValues: Sequence[Pointer] | None, numLibraryOptions: int) -> cudaLibrary_t: ...
    @staticmethod
    def cudaLibraryLoadFromFile(fileName: Text, jitOptions: Sequence[cudaJitOption] | None, jitOptionsValues: Sequence[Pointer] | None, numJitOptions: int, libraryOptions: Sequence[cudaLibraryOption] | None, libraryOptionValues: Sequence[Pointer] | None, numLibraryOptions: int) -> cudaLibrary_t: ...
    @staticmethod
    def cudaLibraryUnload(library: cudaLibrary_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaLibraryGetKernel(library: cudaLibrary_t | SupportsInt | None, name: Text) -> cudaKernel_t: ...
    @staticmethod
    def cudaLibraryGetGlobal(library: cudaLibrary_t | SupportsInt | None, name: Text) -> tuple[int, int]: ...
    @staticmethod
    def cudaLibraryGetManaged(library: cudaLibrary_t | SupportsInt | None, name: Text) -> tuple[int, int]: ...
    @staticmethod
    def cudaLibraryGetUnifiedFunction(library: cudaLibrary_t | SupportsInt | None, symbol: Text) -> int: ...
    @staticmethod
    def cudaLibraryGetKernelCount(lib: cudaLibrary_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaLibraryEnumerateKernels(numKernels: int, lib: cudaLibrary_t | SupportsInt | None) -> cudaKernel_t: ...
    @staticmethod
    def cudaKernelSetAttributeForDevice(kernel: cudaKernel_t | SupportsInt | None, attr: cudaFuncAttribute, value: int, device: int) -> None: ...
    @staticmethod
    def cudaGetExportTable(pExportTableId: CUuuid | None) -> int: ...
    @staticmethod
    def cudaGetKernel(entryFuncAddr: Pointer) -> cudaKernel_t: ...
    @staticmethod
    def cudaProfilerStart() -> None: ...
    @staticmethod
    def cudaProfilerStop() -> None: ...
    @staticmethod
    def cudaGLGetDevices(cudaDeviceCount: int, deviceList: cudaGLDeviceList) -> tuple[int, list[int]]: ...
    @staticmethod
    def cudaGraphicsGLRegisterImage(image: GLuint | SupportsInt | None, target: GLenum | SupportsInt | None, flags: int) -> cudaGraphicsResource_t: ...
    @staticmethod
    def cudaGraphicsGLRegisterBuffer(buffer: GLuint | SupportsInt | None, flags: int) -> cudaGraphicsResource_t: ...
    @staticmethod
    def cudaGLSetGLDevice(device: int) -> None: ...
    @staticmethod
    def cudaGLRegisterBufferObject(bufObj: GLuint | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGLMapBufferObject(bufObj: GLuint | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaGLUnmapBufferObject(bufObj: GLuint | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGLUnregisterBufferObject(bufObj: GLuint | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGLSetBufferObjectMapFlags(bufObj: GLuint | SupportsInt | None, flags: int) -> None: ...
    @staticmethod
    def cudaGLMapBufferObjectAsync(bufObj: GLuint | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaGLUnmapBufferObjectAsync(bufObj: GLuint | SupportsInt | None, stream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphicsEGLRegisterImage(image: EGLImageKHR | SupportsInt | None, flags: int) -> cudaGraphicsResource_t: ...
    @staticmethod
    def cudaEGLStreamConsumerConnect(eglStream: EGLStreamKHR | SupportsInt | None) -> cudaEglStreamConnection: ...
    @staticmethod
    def cudaEGLStreamConsumerConnectWithFlags(eglStream: EGLStreamKHR | SupportsInt | None, flags: int) -> cudaEglStreamConnection: ...
    @staticmethod
    def cudaEGLStreamConsumerDisconnect(conn: cudaEglStreamConnection | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaEGLStreamConsumerAcquireFrame(conn: cudaEglStreamConnection | SupportsInt | None, pStream: cudaStream_t | SupportsInt | None, timeout: int) -> cudaGraphicsResource_t: ...
    @staticmethod
    def cudaEGLStreamConsumerReleaseFrame(conn: cudaEglStreamConnection | SupportsInt | None, pCudaResource: cudaGraphicsResource_t | SupportsInt | None, pStream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaEGLStreamProducerConnect(eglStream: EGLStreamKHR | SupportsInt | None, width: EGLint | SupportsInt | None, height: EGLint | SupportsInt | None) -> cudaEglStreamConnection: ...
    @staticmethod
    def cudaEGLStreamProducerDisconnect(conn: cudaEglStreamConnection | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaEGLStreamProducerReturnFrame(conn: cudaEglStreamConnection | SupportsInt | None, eglframe: cudaEglFrame | None, pStream: cudaStream_t | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphicsResourceGetMappedEglFrame(resource: cudaGraphicsResource_t | SupportsInt | None, index: int, mipLevel: int) -> cudaEglFrame: ...
    @staticmethod
    def cudaEventCreateFromEGLSync(eglSync: EGLSyncKHR | SupportsInt | None, flags: int) -> cudaEvent_t: ...
    @staticmethod
    def cudaVDPAUGetDevice(vdpDevice: VdpDevice | SupportsInt | None, vdpGetProcAddress: VdpGetProcAddress | SupportsInt | None) -> int: ...
    @staticmethod
    def cudaVDPAUSetVDPAUDevice(device: int, vdpDevice: VdpDevice | SupportsInt | None, vdpGetProcAddress: VdpGetProcAddress | SupportsInt | None) -> None: ...
    @staticmethod
    def cudaGraphicsVDPAURegisterVideoSurface(vdpSurface: VdpVideoSurface | SupportsInt | None, flags: int) -> cudaGraphicsResource_t: ...
    @staticmethod
    def cudaGraphicsVDPAURegisterOutputSurface(vdpSurface: VdpOutputSurface | SupportsInt | None, flags: int) -> cudaGraphicsResource_t: ...
def getLocalRuntimeVersion() -> tuple[cudaError_t, int]: ...
def make_cudaPitchedPtr(d: Pointer, p: int, xsz: int, ysz: int) -> cudaPitchedPtr: ...
def make_cudaPos(x: int, y: int, z: int) -> cudaPos: ...
def make_cudaExtent(w: int, h: int, d: int) -> cudaExtent: ...
