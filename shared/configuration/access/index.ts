export { type AccessRule, type Grant, grantsOf, ownerOf, type Person, type Role, roles } from './access-rule.ts';
export { type AccessStore, createAccessStore } from './access-store.ts';
export { type Rights, rightsOf } from './rights.ts';
