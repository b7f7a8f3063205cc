/**
 * The counters of use: one row for each project and month. Accepting adds to them in its transaction;
 * what is tried again, or turns out to have been sent, is added again.
 */
import { larger } from '../../store/dialect.ts'
import { sql } from '../../store/drizzle.ts'
import type { UsageCategory } from '../../store/schema/words.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { CategoryNumbers, Limits } from './categories.ts'

/** `startsAt`: the beginning of the month. */
export type MonthChange = {
  projectId: string
  startsAt: number
  category: UsageCategory
  count: number
}

/** The use of a project in a month, with what limits it. */
export type Use = {
  projectId: string
  startsAt: number
  used: CategoryNumbers
  limits: Limits
  isSubscribed: boolean
  currency: string | null
}

type UseRow = CategoryNumbers & {
  limitTransactional: number | null
  limitCampaigns: number | null
  limitWorkflows: number | null
  limitInbound: number | null
  subscription: string | null
  currency: string | null
}

const PROJECT = parameter('projectId')
const MONTH = parameter('startsAt')
const COUNT = parameter('count')
const isOwn = sql`project_id = ${PROJECT} and starts_at = ${MONTH}`

const findUse = statement<UseRow>(
  () => sql`select coalesce(transactional, 0) as transactional, coalesce(campaigns, 0) as campaigns,
      coalesce(workflows, 0) as workflows, coalesce(inbound, 0) as inbound,
      limit_transactional as "limitTransactional", limit_campaigns as "limitCampaigns",
      limit_workflows as "limitWorkflows", limit_inbound as "limitInbound",
      subscription, currency
    from projects left join usage_months
      on usage_months.project_id = projects.id and usage_months.starts_at = ${MONTH}
    where projects.id = ${PROJECT}`,
)

/** Built once for each category: a statement names its column. */
const COUNTERS = {
  transactional: countersOf('transactional'),
  campaigns: countersOf('campaigns'),
  workflows: countersOf('workflows'),
  inbound: countersOf('inbound'),
} satisfies Record<UsageCategory, unknown>

function countersOf(category: UsageCategory) {
  const column = sql.raw(category)
  const limit = sql.raw(`limit_${category}`)
  return {
    add: statement(
      () => sql`insert into usage_months (project_id, starts_at, ${column})
        values (${PROJECT}, ${MONTH}, ${COUNT})
        on conflict (project_id, starts_at) do update set ${column} = ${column} + ${COUNT}`,
    ),
    addUnlimited: statement(
      () => sql`insert into usage_months (project_id, starts_at, ${column})
        select id, ${MONTH}, ${COUNT} from projects
        where id = ${PROJECT} and ${limit} is null
          and (${parameter('isShared')} = 0 or subscription is not null)
        on conflict (project_id, starts_at) do update set ${column} = ${column} + ${COUNT}`,
    ),
    addAgain: statement(
      () => sql`update usage_months set ${column} = ${column} + ${COUNT} where ${isOwn}`,
    ),
    takeOff: statement(
      () => sql`update usage_months set ${column} = ${larger(sql`${column} - ${COUNT}`, sql`0`)}
        where ${isOwn}`,
    ),
  }
}

/** Undefined if the project is gone. */
export async function readUse(
  reader: Pick<Tx, 'find'>,
  { projectId, startsAt }: { projectId: string; startsAt: number },
): Promise<Use | undefined> {
  const row = await reader.find(findUse, { projectId, startsAt })
  if (row === undefined) return undefined
  const { transactional, campaigns, workflows, inbound, subscription, currency } = row
  return {
    ...{ projectId, startsAt, currency, isSubscribed: subscription !== null },
    used: { transactional, campaigns, workflows, inbound },
    limits: {
      transactional: row.limitTransactional,
      campaigns: row.limitCampaigns,
      workflows: row.limitWorkflows,
      inbound: row.limitInbound,
    },
  }
}

export async function add(tx: Tx, { category, ...values }: MonthChange): Promise<void> {
  await tx.execute(COUNTERS[category].add, values)
}

/**
 * Adds only if the project has no limit for the category, as of this transaction. Returns false if it
 * has one, or is gone. `isShared`: whether the server limits projects without a subscription.
 */
export async function addUnlimited(
  tx: Tx,
  { category, isShared, ...values }: MonthChange & { isShared: boolean },
): Promise<boolean> {
  const { addUnlimited: statement } = COUNTERS[category]
  return (await tx.execute(statement, { ...values, isShared: isShared ? 1 : 0 })) > 0
}

/** Adds emails that were taken off before. Does nothing in a month that was not counted. */
export async function addAgain(tx: Tx, { category, ...values }: MonthChange): Promise<void> {
  await tx.execute(COUNTERS[category].addAgain, values)
}

export async function takeOff(tx: Tx, { category, ...values }: MonthChange): Promise<void> {
  await tx.execute(COUNTERS[category].takeOff, values)
}
