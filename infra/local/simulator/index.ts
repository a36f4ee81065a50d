export { behaviourNames } from './behaviours/registry.ts';
export { type Simulator, startSimulator } from './start-simulator.ts';
export { unknownMembersTexts } from './unknown-members.ts';
