/**
 * The counters of use: one row for each project and month. Accepting adds to them in its transaction;
 * what is tried again, or turns out to have been sent, is added again.
 */
import { larger } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { UsageCategory } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { CategoryNumbers, UsageLimits } from './categories.ts'

/** `startsAt`: the beginning of the month. */
export type MonthChange = {
  projectId: string
  startsAt: number
  category: UsageCategory
  count: number
}

/** The use of a project in a month, with what limits it. */
export type MonthUse = {
  projectId: string
  startsAt: number
  used: CategoryNumbers
  /**
   * Emails of the owner's other projects without a subscription; 0 where the server has no limit that they
   * share.
   */
  usedByOthers: number
  limits: UsageLimits
  isSubscribed: boolean
  currency: string | null
}

type LimitRow = {
  transactional: number | null
  campaigns: number | null
  workflows: number | null
  inbound: number | null
  subscription: string | null
  currency: string | null
}

const PROJECT = parameter('projectId')
const MONTH = parameter('startsAt')
const COUNT = parameter('count')
const isOwn = sql`project_id = ${PROJECT} and starts_at = ${MONTH}`

/**
 * The limits and the use are read by two statements, because one with a join takes six times as
 * long (15 against 2.3 microseconds).
 */
const findLimits = statement<LimitRow>(
  () => sql`select limit_transactional as transactional, limit_campaigns as campaigns,
      limit_workflows as workflows, limit_inbound as inbound, subscription, currency
    from projects where id = ${PROJECT}`,
)

const findUsed = statement<CategoryNumbers>(
  () => sql`select transactional, campaigns, workflows, inbound from usage_months where ${isOwn}`,
)

/**
 * Reads the use, and with it `usedByOthers`: the use of the owner's other projects without a
 * subscription, and of the projects that the owner has deleted (`month.ts`).
 */
const findUsedOfOwner = statement<CategoryNumbers & { usedByOthers: number }>(
  () => sql`select coalesce(own.transactional, 0) as transactional,
      coalesce(own.campaigns, 0) as campaigns, coalesce(own.workflows, 0) as workflows,
      coalesce(own.inbound, 0) as inbound,
      coalesce((select sum(used.transactional + used.campaigns + used.workflows + used.inbound)
        from memberships owner
        join memberships owned on owned.user_id = owner.user_id and owned.role = 'OWNER'
          and owned.project_id <> owner.project_id
        join projects on projects.id = owned.project_id and projects.subscription is null
        join usage_months used on used.project_id = owned.project_id and used.starts_at = ${MONTH}
        where owner.project_id = ${PROJECT} and owner.role = 'OWNER'), 0)
      + coalesce((select deleted.emails
        from memberships owner
        join owner_months deleted on deleted.user_id = owner.user_id
          and deleted.starts_at = ${MONTH}
        where owner.project_id = ${PROJECT} and owner.role = 'OWNER'), 0) as "usedByOthers"
    from (select 1 as one) as always
    left join usage_months own on own.project_id = ${PROJECT} and own.starts_at = ${MONTH}`,
)

type Used = CategoryNumbers & { usedByOthers?: number }

const NOTHING: Used = { transactional: 0, campaigns: 0, workflows: 0, inbound: 0 }

/** The statements of each category. They are built once, because a statement names its column. */
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
      () => sql`update usage_months set ${column} = ${column} + ${COUNT}
        where ${isOwn} and exists (select 1 from projects
          where id = usage_months.project_id and ${limit} is null
            and (${parameter('isShared')} = 0 or subscription is not null))`,
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

/** `isShared`: as for `addUnlimited`. Undefined if the project is gone. */
export async function readUse(
  reader: Pick<Tx, 'find'>,
  { projectId, startsAt }: { projectId: string; startsAt: number },
  isShared: boolean,
): Promise<MonthUse | undefined> {
  const row = await reader.find(findLimits, { projectId })
  if (row === undefined) return undefined
  const { subscription, currency, ...limits } = row
  const isSubscribed = subscription !== null
  const find = isShared && !isSubscribed ? findUsedOfOwner : findUsed
  const found: Used | undefined = await reader.find(find, { projectId, startsAt })
  const { usedByOthers = 0, ...used } = found ?? NOTHING
  return { projectId, startsAt, used, usedByOthers, limits, isSubscribed, currency }
}

export async function add(tx: Tx, { category, ...values }: MonthChange): Promise<void> {
  await tx.execute(COUNTERS[category].add, values)
}

/**
 * Adds only if the project has no limit for the category, as of this transaction. Returns false if it
 * has one, if it is gone, or if nothing is counted in the month yet. `isShared`: whether the server
 * limits projects without a subscription.
 */
export async function addUnlimited(
  tx: Tx,
  { projectId, startsAt, category, count }: MonthChange,
  isShared: boolean,
): Promise<boolean> {
  const values = { projectId, startsAt, count, isShared: isShared ? 1 : 0 }
  return (await tx.execute(COUNTERS[category].addUnlimited, values)) > 0
}

/**
 * Adds emails that were taken off before. Adds nothing, and returns false, if the month has no row
 * yet.
 */
export async function addAgain(tx: Tx, { category, ...values }: MonthChange): Promise<boolean> {
  return (await tx.execute(COUNTERS[category].addAgain, values)) > 0
}

export async function takeOff(tx: Tx, { category, ...values }: MonthChange): Promise<void> {
  await tx.execute(COUNTERS[category].takeOff, values)
}
