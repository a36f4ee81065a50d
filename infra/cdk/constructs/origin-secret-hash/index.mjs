// A custom resource that runs only during a deployment: it tells CloudFormation the SHA-256 of each origin secret, so that
// the functions' environment can hold hashes. It always answers, because a stack waits an hour for a missing answer.
// Plain JavaScript on the SDK of the Lambda runtime: it needs no build.
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const readSecret = async (secretArn) => {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  return (await new SecretsManagerClient().send(new GetSecretValueCommand({ SecretId: secretArn }))).SecretString;
};

const put = async (url, body) => {
  const response = await fetch(url, { method: 'PUT', body, headers: { 'content-type': '' } });
  if (!response.ok) throw new Error(`CloudFormation answered ${response.status}`);
};

/** In the order of the ARNs, comma-separated, as GW_ORIGIN_SECRET_SHA256 takes them. */
const hash = async (secretArns, read) => {
  const secrets = await Promise.all(secretArns.map(read));
  return secrets.map((secret) => createHash('sha256').update(secret).digest('hex')).join(',');
};

/** A new permission reaches every part of IAM within seconds: the function's own may be younger than that. */
const permissionTriesMax = 10;
const permissionPauseMs = 4_000;

const readOncePermitted = async (secretArn, { readSecret, pause }) => {
  for (let tried = 1; ; tried += 1) {
    try {
      return await readSecret(secretArn);
    } catch (error) {
      if (error?.name !== 'AccessDeniedException' || tried >= permissionTriesMax) throw error;
      await pause(permissionPauseMs);
    }
  }
};

/** @param outside reads a secret, waits and answers CloudFormation; only tests pass their own. */
export const answer = async (event, outside = { readSecret, put, pause }) => {
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
      result = {
        Status: 'SUCCESS',
        Data: { Sha256: await hash(ResourceProperties.SecretArns, (arn) => readOncePermitted(arn, outside)) },
      };
    } catch (error) {
      result = { Status: 'FAILED', Reason: `the origin secret could not be read: ${error?.name ?? 'unknown'}` };
    }
  }
  await outside.put(event.ResponseURL, JSON.stringify({ ...ids, ...result }));
};

export const handler = (event) => answer(event);
