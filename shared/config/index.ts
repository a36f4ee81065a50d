export {
  type AwsCredentials,
  type AwsEnvironment,
  type DynamoPlace,
  hasAwsCredentials,
  readAwsCredentials,
  readDynamoPlace,
  type Variables,
} from './aws-environment.ts';
export { type Environment, readEnvironment, readVariable } from './environment.ts';
