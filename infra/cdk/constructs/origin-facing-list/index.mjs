// A custom resource that runs only during a deployment: it tells CloudFormation the id of the list of addresses by which
// CloudFront calls origins. It always answers, because a stack waits an hour for a missing answer. Plain JavaScript on the SDK of
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
const permissionTriesMax = 10;
const permissionPauseMs = 4_000;

const readOncePermitted = async ({ readLists, pause }) => {
  for (let tried = 1; ; tried += 1) {
    try {
      return await readLists();
    } catch (error) {
      if (error?.name !== 'UnauthorizedOperation' || tried >= permissionTriesMax) throw error;
      await pause(permissionPauseMs);
    }
  }
};

/** @param outside reads lists, waits and answers CloudFormation; only tests pass their own. */
export const answer = async (event, outside = { readLists, put, pause }) => {
  const { StackId, RequestId, LogicalResourceId, RequestType } = event;
  const PhysicalResourceId = event.PhysicalResourceId ?? LogicalResourceId;
  let result = { Status: 'SUCCESS' };
  if (RequestType !== 'Delete') {
    try {
      const [list] = (await readOncePermitted(outside)) ?? [];
      result =
        list === undefined
          ? { Status: 'FAILED', Reason: `this region has no list ${listName}` }
          : { Status: 'SUCCESS', Data: { PrefixListId: list.PrefixListId } };
    } catch (error) {
      result = { Status: 'FAILED', Reason: `the list could not be read: ${error?.name ?? 'unknown'}` };
    }
  }
  await outside.put(
    event.ResponseURL,
    JSON.stringify({ StackId, RequestId, LogicalResourceId, PhysicalResourceId, ...result }),
  );
};

export const handler = (event) => answer(event);
