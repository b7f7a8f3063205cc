/**
 * Sends the deliveries of all endpoints (`dispatch/dispatcher.ts`), and records their attempts in
 * the rows of the deliveries and of the endpoints. An endpoint that answers 410, or that had no
 * success in the five days since it began to fail, is disabled.
 */
import { DAY_MS, SECOND_MS } from '../../../../base/clock.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { webhookDeliveries, webhookEndpoints } from '../../../../store/schema/webhooks.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { appendEvent } from '../../../ground/events/append.ts'
import { type Dispatcher, startDispatcher } from '../dispatch/dispatcher.ts'
import type { TaskKey } from '../dispatch/tasks.ts'
import { disableEndpoint } from '../endpoints/disable.ts'
import { attemptDelivery, type EndpointResult } from './attempt.ts'
import { type EndpointTask, takeDeliveries } from './endpoint-tasks.ts'

type SenderDeps = RecordDeps & Pick<Base, 'keyring' | 'log' | 'webhookClient'>

type DueEndpoint = { id: string; projectId: string; dueAt: number }

const listEndpoints = statement<DueEndpoint>(
  () => sql`select * from (
      select id, project_id as "projectId", (
        select min(due_at) from webhook_deliveries
        where endpoint_id = webhook_endpoints.id and due_at is not null
      ) as "dueAt" from webhook_endpoints where enabled = 1 and deleted_at is null
    ) as due where "dueAt" is not null`,
)

/** An endpoint without one success for this time is disabled. */
const MAX_FAILING_MS = 5 * DAY_MS

const GONE_REASON = 'the endpoint answered 410 (Gone)'

const FAILING_REASON = 'no delivery has succeeded in five days'

/** The time of the last success is written at most this often. */
const SUCCESS_WRITE_MS = SECOND_MS

type RecordDeps = Pick<Base, 'store' | 'now' | 'counters' | 'jobNotifier' | 'webhookNotifier'>

type EndpointResults = { key: TaskKey; results: EndpointResult[] }

/**
 * Writes the result of an attempt. If the delivery failed meanwhile because its endpoint was
 * disabled, it stays failed, unless it has arrived. The statement runs once for each row: no
 * trigger reads this table, so a statement over a list would cost half as much again.
 */
const updateDelivery = statement((db) =>
  db
    .update(webhookDeliveries)
    .set({
      status: parameter('status'),
      dueAt: parameter('dueAt'),
      attempts: parameter('attempts'),
      statusCode: parameter('statusCode'),
      error: parameter('error'),
      response: parameter('response'),
      durationMs: parameter('durationMs'),
      lastAttemptAt: parameter('lastAttemptAt'),
      completedAt: parameter('completedAt'),
    })
    .where(
      sql`${eq(webhookDeliveries.number, parameter('number'))}
        and (${webhookDeliveries.status} = 'PENDING' or ${parameter('status')} = 'SUCCEEDED')`,
    ),
)

const markSuccess = statement(
  () => sql`update webhook_endpoints set last_success_at = ${parameter('at')}, failing_since = null
    where id = ${parameter('id')} and (failing_since is not null or last_success_at is null
      or last_success_at not between ${parameter('at')} - ${SUCCESS_WRITE_MS} and ${parameter('at')})`,
)

/**
 * Writes since when the endpoint fails. The time is never in the future, even if the clock was set
 * back.
 */
const markFailure = statement<{ url: string; failingSince: number }>((db) =>
  db
    .update(webhookEndpoints)
    .set({
      failingSince: sql`case when failing_since <= ${parameter('at')} then failing_since
        else ${parameter('at')} end`,
    })
    .where(
      sql`${webhookEndpoints.id} = ${parameter('id')} and ${webhookEndpoints.isEnabled}
        and ${webhookEndpoints.deletedAt} is null`,
    )
    .returning({ url: webhookEndpoints.url, failingSince: webhookEndpoints.failingSince }),
)

export function startWebhookSender(deps: SenderDeps): Pick<Dispatcher, 'reload' | 'stop'> {
  const { store, webhookNotifier } = deps
  const dispatcher = startDispatcher<EndpointTask, EndpointResult>(deps, {
    name: 'webhooks',
    listKeys: () => store.scan.list(listEndpoints),
    take: (key, query) => takeDeliveries(deps, key, query),
    attempt: (task, signal) => attemptDelivery(deps, task, signal),
    record: (results) => recordDeliveries(deps, results),
  })
  const unlisten = webhookNotifier.listen(({ kind, endpointId: id, projectId }) => {
    if (kind === 'due') dispatcher.notify({ id, projectId }, 0)
    else dispatcher.refresh({ id, projectId })
  })
  const unwatch = store.onExternalChange(dispatcher.reload)
  return {
    reload: dispatcher.reload,
    async stop(graceMs) {
      unlisten()
      unwatch()
      await dispatcher.stop(graceMs)
    },
  }
}

/** Writes that an endpoint works, because it has accepted a delivery. */
export async function recordSuccess(tx: Tx, success: { id: string; at: number }): Promise<void> {
  await tx.execute(markSuccess, success)
}

async function recordDeliveries(
  deps: RecordDeps,
  recorded: readonly { key: TaskKey; result: EndpointResult }[],
): Promise<void> {
  const endpoints = groupByEndpoint(recorded)
  await deps.store.write(async (tx) => {
    await tx.executeEach(
      updateDelivery,
      recorded.map(({ result }) => toRow(result)),
    )
    for (const endpoint of endpoints) await recordEndpoint(deps, tx, endpoint)
    tx.afterCommit(() => {
      for (const { result } of recorded) countAttempt(deps, result)
    })
  })
}

/** Counts an attempt. A delivery whose event was deleted ended without an attempt. */
function countAttempt({ counters }: Pick<Base, 'counters'>, { columns }: EndpointResult): void {
  const { durationMs, status, statusCode } = columns
  if (durationMs === null) return
  const outcome =
    status === 'SUCCEEDED' ? 'succeeded' : statusCode === null ? 'no_response' : 'refused'
  counters.add('pillarbox_webhook_attempts_total', { outcome })
  counters.observe('pillarbox_webhook_attempt_duration_seconds', durationMs)
}

function toRow({ number, dueAt, columns }: EndpointResult) {
  return { number, dueAt, ...columns, completedAt: dueAt === null ? columns.lastAttemptAt : null }
}

function groupByEndpoint(
  recorded: readonly { key: TaskKey; result: EndpointResult }[],
): EndpointResults[] {
  const groups = new Map<string, EndpointResults>()
  for (const { key, result } of recorded) {
    const group = groups.get(key.id) ?? { key, results: [] }
    groups.set(key.id, group)
    group.results.push(result)
  }
  return [...groups.values()]
}

async function recordEndpoint(
  deps: RecordDeps,
  tx: Tx,
  { key: { id, projectId }, results }: EndpointResults,
): Promise<void> {
  const at = deps.now()
  if (results.some(({ columns }) => columns.status === 'SUCCEEDED')) {
    await recordSuccess(tx, { id, at })
  } else if (results.some(isFailure)) {
    const failing = await tx.find(markFailure, { id, at })
    if (failing === undefined) return
    if (failing.failingSince <= at - MAX_FAILING_MS)
      return disable(deps, tx, { id, projectId, url: failing.url, reason: FAILING_REASON })
  }
  if (!results.some(({ isGone }) => isGone)) return
  const endpoint = await tx.find(markFailure, { id, at })
  if (endpoint === undefined) return
  await disable(deps, tx, { id, projectId, url: endpoint.url, reason: GONE_REASON })
}

/**
 * Whether the result counts against the endpoint. A deleted event says nothing about the endpoint.
 */
function isFailure({ columns }: EndpointResult): boolean {
  return columns.status !== 'SUCCEEDED' && columns.durationMs !== null
}

async function disable(
  deps: RecordDeps,
  tx: Tx,
  endpoint: { id: string; projectId: string; url: string; reason: string },
): Promise<void> {
  const { id, projectId, url, reason } = endpoint
  if (!(await disableEndpoint(deps, tx, endpoint))) return
  await appendEvent(tx, {
    ...{ projectId, name: 'webhook.disabled', contactId: null, emailId: null },
    data: { endpointId: id, url, reason },
    at: deps.now(),
  })
}
