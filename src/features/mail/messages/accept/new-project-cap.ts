/**
 * `limits.new_project_daily`: how many emails a project younger than 30 days may send in 24 hours.
 * They are counted by the hour, in the transaction that accepts them, so that no deletion makes
 * room for more. Emails that end with their acceptance, such as one to a suppressed address, are
 * never sent nor counted. The 24 hours begin on the hour. Without a limit nothing is counted.
 */
import { DAY_MS, HOUR_MS } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import { asc, sql } from '../../../../store/drizzle.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import { newProjectHours } from '../../../../store/schema/reputation.ts'
import type { UsageCategory } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { countUsage, type UsageDeps } from '../../../ground/usage/count.ts'

type Deps = Pick<Base, 'config'>

type CappedProject = Pick<Project, 'id' | 'createdAt'>

type CapRequest = { project: CappedProject; at: number }

type SentHour = { startsAt: number; emails: number }

/** The age up to which a project is new. */
const NEW_PROJECT_MS = 30 * DAY_MS

const { projectId, startsAt, emails } = newProjectHours

const listHours = statement((db) =>
  db
    .select({ startsAt, emails })
    .from(newProjectHours)
    .where(sql`${projectId} = ${parameter('projectId')} and ${startsAt} > ${parameter('after')}`)
    .orderBy(asc(startsAt)),
)

const addToHour = statement((db) =>
  db
    .insert(newProjectHours)
    .values({
      projectId: parameter('projectId'),
      startsAt: parameter('startsAt'),
      emails: parameter('emails'),
    })
    .onConflictDoUpdate({
      target: [projectId, startsAt],
      set: { emails: sql`${emails} + ${parameter('emails')}` },
    }),
)

/** `count`: the number of emails, without those that end with their acceptance. */
type Counted = { project: Project; category: UsageCategory; count: number; at: number }

/** Returns the number of emails that the project may still send now; infinite without a limit. */
export async function findAllowance(
  deps: Deps,
  reader: Pick<Tx, 'list'>,
  asked: CapRequest,
): Promise<number> {
  const use = await findUse(deps, reader, asked)
  return use === undefined ? Number.POSITIVE_INFINITY : Math.max(0, use.limit - use.used)
}

/**
 * Returns when a project that has used up its limit may send again (epoch ms); null while it may
 * send.
 */
export async function findNextAllowance(
  deps: Deps,
  reader: Pick<Tx, 'list'>,
  asked: CapRequest,
): Promise<number | null> {
  const use = await findUse(deps, reader, asked)
  if (use === undefined || use.used < use.limit) return null
  return findRoom(use.hours, use.used + 1 - use.limit, asked.project)
}

/** Counts emails that `findAllowance` or `refuseOverCap` has allowed. */
export async function countAllowed(
  deps: Deps,
  tx: Tx,
  { project, count, at }: CapRequest & { count: number },
): Promise<void> {
  if (count === 0 || !isCapped(deps, project, at)) return
  const row = { projectId: project.id, startsAt: at - (at % HOUR_MS), emails: count }
  await tx.execute(addToHour, row)
}

/** Whether the stricter limits of new projects apply. */
export function isYoung({ createdAt }: Pick<Project, 'createdAt'>, at: number): boolean {
  return at - createdAt < NEW_PROJECT_MS
}

/**
 * Counts emails that are about to be accepted, for the limits of their project. All of them are counted, or none.
 * Emails that end with their acceptance, such as one to a suppressed address, are not counted. Every refusal comes
 * before the first write of the email. @throws AppError RATE_LIMIT_EXCEEDED (`limits.new_project_daily`),
 * BILLING_LIMIT_EXCEEDED (the limits of the project by the month)
 */
export async function countAccepted(deps: UsageDeps, tx: Tx, counted: Counted): Promise<void> {
  if (counted.count === 0) return
  await refuseOverCap(deps, tx, counted)
  await countUsage(deps, tx, counted)
  await countAllowed(deps, tx, counted)
}

/**
 * Refuses emails that are about to be accepted, all or none. It counts nothing.
 * @throws AppError RATE_LIMIT_EXCEEDED with `details` {limit, used}, and retryAfter (seconds) unless
 *   there are more than the limit
 */
async function refuseOverCap(
  deps: Deps,
  reader: Pick<Tx, 'list'>,
  { project, count, at }: CapRequest & { count: number },
): Promise<void> {
  const use = await findUse(deps, reader, { project, at })
  if (use === undefined) return
  const { limit, used, hours } = use
  if (used + count <= limit) return
  const roomAt = findRoom(hours, used + count - limit, project)
  const retryAfter = Math.ceil((roomAt - at) / 1_000)
  const most = limit === 1 ? '1 email' : `${limit} emails`
  const text = `A new project may send ${most} in 24 hours, and this one has sent ${used}.`
  throw new AppError('RATE_LIMIT_EXCEEDED', text, {
    details: { limit, used, ...(count <= limit && { retryAfter }) },
    suggestion:
      count <= limit
        ? 'Nothing was accepted. Wait as long as the Retry-After header says.'
        : `Nothing was accepted. Send at most ${limit} emails a day.`,
    smtp: '452 4.7.1',
  })
}

function isCapped({ config }: Deps, project: CappedProject, at: number): boolean {
  return config.limits.newProjectDaily > 0 && isYoung(project, at)
}

/**
 * Finds the number of emails that the project has sent within its limit; undefined without a limit.
 */
async function findUse(
  deps: Deps,
  reader: Pick<Tx, 'list'>,
  { project, at }: CapRequest,
): Promise<{ limit: number; used: number; hours: SentHour[] } | undefined> {
  if (!isCapped(deps, project, at)) return undefined
  const hours = await reader.list(listHours, { projectId: project.id, after: at - DAY_MS })
  const used = hours.reduce((sum, hour) => sum + hour.emails, 0)
  return { limit: deps.config.limits.newProjectDaily, used, hours }
}

/**
 * Returns when `wanted` more emails may be sent (epoch ms): when as many have become older than the
 * 24 hours, or the project is no longer new.
 */
function findRoom(
  hours: readonly SentHour[],
  wanted: number,
  { createdAt }: CappedProject,
): number {
  const endsAt = createdAt + NEW_PROJECT_MS
  let left = 0
  for (const hour of hours) {
    left += hour.emails
    if (left >= wanted) return Math.min(endsAt, hour.startsAt + DAY_MS)
  }
  return endsAt
}
