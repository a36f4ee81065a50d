export { behaviourNames, unknownMembersTexts } from './behaviours/index.ts';
export type { ReceivedCall } from './call-log.ts';
export { schemaInstance } from './schema-instance.ts';
export { type Simulator, type SimulatorOptions, startSimulator } from './start-simulator.ts';
export { countTokens, tokensOf } from './tokens.ts';
