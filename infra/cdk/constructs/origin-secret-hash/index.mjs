// Runs only during a deployment: tells CloudFormation the SHA-256 of each origin secret, so that the gateway's
// environment can hold hashes and no secret. Always answers: a custom resource without an answer blocks a stack for an
// hour. Plain JavaScript on the SDK that the Lambda runtime brings along, so that it needs no build.
import { createHash } from 'node:crypto';

const readSecret = async (secretArn) => {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  return (await new SecretsManagerClient().send(new GetSecretValueCommand({ SecretId: secretArn }))).SecretString;
};

const put = async (url, body) => {
  const response = await fetch(url, { method: 'PUT', body, headers: { 'content-type': '' } });
  if (!response.ok) throw new Error(`CloudFormation answered ${response.status}`);
};

/** Hashes in the order of the ARNs, comma-separated: the form GW_ORIGIN_SECRET_SHA256 has. */
const hash = async (secretArns, read) => {
  const secrets = await Promise.all(secretArns.map(read));
  return secrets.map((secret) => createHash('sha256').update(secret).digest('hex')).join(',');
};

/** @param outside what the function touches: reading a secret, answering CloudFormation. Given by tests only. */
export const answer = async (event, outside = { readSecret, put }) => {
  const { StackId, RequestId, LogicalResourceId, RequestType, ResourceProperties } = event;
  const ids = {
    StackId,
    RequestId,
    LogicalResourceId,
    PhysicalResourceId: event.PhysicalResourceId ?? LogicalResourceId,
  };
  let result = { Status: 'SUCCESS' };
  if (RequestType !== 'Delete') {
    try {
      result = { Status: 'SUCCESS', Data: { Sha256: await hash(ResourceProperties.SecretArns, outside.readSecret) } };
    } catch (error) {
      result = { Status: 'FAILED', Reason: `the origin secret could not be read: ${error?.name ?? 'unknown'}` };
    }
  }
  await outside.put(event.ResponseURL, JSON.stringify({ ...ids, ...result }));
};

export const handler = (event) => answer(event);
