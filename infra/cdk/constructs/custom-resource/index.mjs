// Custom resources that run only during a deployment and report values of the account to CloudFormation, by the type of
// the resource. Each always answers, because a stack waits an hour for a missing answer. Plain JavaScript on the SDK of
// the Lambda runtime: it needs no build.
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

/** A new permission reaches every part of IAM within seconds: the function's own may be younger than that. */
const refusals = ['AccessDeniedException'];
const permissionTriesMax = 10;
const permissionPauseMs = 4_000;

const oncePermitted = async (read, { pause }) => {
  for (let tried = 1; ; tried += 1) {
    try {
      return await read();
    } catch (error) {
      if (!refusals.includes(error?.name) || tried >= permissionTriesMax) throw error;
      await pause(permissionPauseMs);
    }
  }
};

const resources = {
  /** SHA-256 of each secret in the order of the ARNs, comma-separated, as GW_ORIGIN_SECRET_SHA256 takes them. */
  'Custom::OriginSecretHashes': {
    subject: 'the origin secret',
    read: async ({ SecretArns }, outside) => {
      const secrets = await Promise.all(SecretArns.map((arn) => oncePermitted(() => outside.readSecret(arn), outside)));
      return { Sha256: secrets.map((secret) => createHash('sha256').update(secret).digest('hex')).join(',') };
    },
  },
};

/** @param outside reads, waits and answers CloudFormation; only tests pass their own. */
export const answer = async (event, outside = { readSecret, put, pause }) => {
  const { StackId, RequestId, LogicalResourceId, RequestType, ResourceType, ResourceProperties } = event;
  const ids = { StackId, RequestId, LogicalResourceId };
  const PhysicalResourceId = event.PhysicalResourceId ?? LogicalResourceId;
  const { subject, read } = resources[ResourceType];
  let result = { Status: 'SUCCESS' };
  if (RequestType !== 'Delete') {
    try {
      result = { Status: 'SUCCESS', Data: await read(ResourceProperties, outside) };
    } catch (error) {
      // Reports the error's name alone: its message may contain the read value.
      result = { Status: 'FAILED', Reason: `${subject} could not be read: ${error?.name ?? 'unknown'}` };
    }
  }
  await outside.put(event.ResponseURL, JSON.stringify({ ...ids, PhysicalResourceId, ...result }));
};

export const handler = (event) => answer(event);
