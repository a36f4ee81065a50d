export {
  type AccessRule,
  type Grant,
  grantsOf,
  ownerOf,
  type Person,
  type Rights,
  type Role,
  rightsOf,
  roles,
} from './access-rule.ts';
export { type AccessStore, createAccessStore } from './access-store.ts';
