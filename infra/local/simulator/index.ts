export { behaviourNames } from './behaviours/registry.ts';
export type { LoggedRequest } from './call-log.ts';
export { schemaInstance } from './schema-instance.ts';
export { type Simulator, type SimulatorOptions, startSimulator } from './start-simulator.ts';
export { countTokens } from './tokens.ts';
export { unknownMembersTexts } from './unknown-members.ts';
