export { type Cooldowns, type CooledEntry, createCooldowns } from './cooldowns.ts';
