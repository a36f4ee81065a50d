// Custom resources that run only during a deployment and report values of the account to CloudFormation, by the type of
// the resource. Each always answers, because a stack waits an hour for a missing answer. Plain JavaScript on the SDK of
// the Lambda runtime: it needs no build.
import { setTimeout as pause } from 'node:timers/promises';

const listName = 'com.amazonaws.global.cloudfront.origin-facing';

const readLists = async () => {
  const { DescribeManagedPrefixListsCommand, EC2Client } = await import('@aws-sdk/client-ec2');
  const Filters = [{ Name: 'prefix-list-name', Values: [listName] }];
  return (await new EC2Client().send(new DescribeManagedPrefixListsCommand({ Filters }))).PrefixLists;
};

const put = async (url, body) => {
  const response = await fetch(url, { method: 'PUT', body, headers: { 'content-type': '' } });
  if (!response.ok) throw new Error(`CloudFormation answered ${response.status}`);
};

/** A new permission reaches every part of IAM within seconds: the function's own may be younger than that. */
const refusals = ['AccessDeniedException', 'UnauthorizedOperation'];
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
  /** The id of the list of addresses from which CloudFront calls origins. */
  'Custom::OriginFacingList': {
    subject: 'the list',
    read: async (_properties, outside) => {
      const [list] = (await oncePermitted(outside.readLists, outside)) ?? [];
      if (list === undefined) throw Object.assign(new Error(), { name: `this region has no list ${listName}` });
      return { PrefixListId: list.PrefixListId };
    },
  },
};

/** @param outside reads, waits and answers CloudFormation; only tests pass their own. */
export const answer = async (event, outside = { readLists, put, pause }) => {
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
