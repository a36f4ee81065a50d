export { hasAwsCredentials, readRegion } from './aws-environment.ts';
export { readContainerEnvironment } from './container-environment.ts';
export { type Environment, readBytesInUseMax, readEnvironment, readStageLimits, readVariable } from './environment.ts';
export { type ProxyEnvironment, readProxyEnvironment } from './proxy-environment.ts';
export { isTrustedUrl, readSignIn, readSignInEnvironment, type SignInSettings } from './sign-in-environment.ts';
export { readPairs, readTelemetryEnvironment, type TelemetryEnvironment, toHeaders } from './telemetry-environment.ts';
