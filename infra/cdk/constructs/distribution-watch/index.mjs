// Runs every five minutes and logs the share of answers that the distribution failed, as one line. It is plain
// JavaScript on the SDK of the Lambda runtime, so it needs no build.

const periodSeconds = 300;
/** Time after which CloudFront's numbers are complete. */
const delaySeconds = 300;
/** Number of requests that may come from one client or one bad connection. */
const fewRequestsMax = 5;

const readMetrics = async (query) => {
  const { CloudWatchClient, GetMetricDataCommand } = await import('@aws-sdk/client-cloudwatch');
  return new CloudWatchClient({ region: 'us-east-1' }).send(new GetMetricDataCommand(query));
};
const print = (line) => process.stdout.write(`${line}\n`);

const metric = (distribution, id, MetricName, Stat) => ({
  Id: id,
  MetricStat: {
    Metric: {
      Namespace: 'AWS/CloudFront',
      MetricName,
      Dimensions: [
        { Name: 'DistributionId', Value: distribution },
        { Name: 'Region', Value: 'Global' },
      ],
    },
    Period: periodSeconds,
    Stat,
  },
});

/** @param outside reads metrics and writes a line; only tests pass their own. */
export const watch = async ({ stage, distribution, nowMs }, outside = { readMetrics, print }) => {
  const endSeconds = Math.floor((nowMs / 1_000 - delaySeconds) / periodSeconds) * periodSeconds;
  const { MetricDataResults = [] } = await outside.readMetrics({
    StartTime: new Date((endSeconds - periodSeconds) * 1_000),
    EndTime: new Date(endSeconds * 1_000),
    MetricDataQueries: [
      metric(distribution, 'percent', '5xxErrorRate', 'Average'),
      metric(distribution, 'requests', 'Requests', 'Sum'),
    ],
  });
  const firstOf = (id) => MetricDataResults.find((result) => result.Id === id)?.Values?.[0] ?? 0;
  const [percent, requests] = [firstOf('percent'), firstOf('requests')];
  const isMany = (percent * requests) / 100 > fewRequestsMax;
  outside.print(JSON.stringify({ event: 'distribution', stage, requests, failed_percent: isMany ? percent : 0 }));
};

export const handler = () =>
  watch({ stage: process.env.GW_STAGE, distribution: process.env.GW_DISTRIBUTION_ID, nowMs: Date.now() });
