export { behaviourNames, type ChosenBehaviour, chooseBehaviour } from './registry.ts';
export { unknownMembersTexts } from './unknown-members.ts';
