export { behaviourNames } from './behaviours/registry.ts';
export { schemaInstance } from './schema-instance.ts';
export { type Simulator, startSimulator } from './start-simulator.ts';
export { countTokens } from './tokens.ts';
export { unknownMembersTexts } from './unknown-members.ts';
