/** Projects with limits by the month, and what they have used of them. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Config } from '../../../../src/config/config.ts'
import { startLazyReader } from '../../../../src/features/ground/events/readers.ts'
import { categoryOf } from '../../../../src/features/ground/usage/categories.ts'
import { usageHandler } from '../../../../src/features/ground/usage/follow-events.ts'
import { monthOf, nextMonthOf } from '../../../../src/features/ground/usage/month.ts'
import { acceptMessage } from '../../../../src/features/mail/messages/accept/accept-message.ts'
import { and, eq, sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { type Project, projects } from '../../../../src/store/schema/accounts.ts'
import { usageMonths, usageNotices } from '../../../../src/store/schema/billing.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { suppressions } from '../../../../src/store/schema/suppressions.ts'
import type { SourceType } from '../../../../src/store/schema/words.ts'
import {
  addProject,
  address,
  openTestCore,
  type TestCore,
  type TestCoreOptions,
  trustDomain,
} from '../../../core.ts'

type LimitColumns = Partial<
  Pick<
    Project,
    | 'limitTransactional'
    | 'limitCampaigns'
    | 'limitWorkflows'
    | 'limitInbound'
    | 'subscription'
    | 'customer'
  >
>

/** Stripe, with few emails for projects without a subscription. */
export function withStripe(freeEmails = 10): (config: Config) => Config {
  const keys = { stripeSecretKey: 'sk_test_1', stripeWebhookSecret: 'whsec_1' }
  const meter = { stripePrice: 'price_1', stripeMeterEvent: 'emails', stripeApiBase: null }
  return (config) => ({ ...config, billing: { freeEmails, ...keys, ...meter } })
}

export const NOTHING = { transactional: 0, campaigns: 0, workflows: 0, inbound: 0 }

/** Changes the row as a PUT does, without its notices. */
export async function setColumns(
  core: TestCore,
  projectId: string,
  columns: LimitColumns,
): Promise<void> {
  await core.store.write(async (tx) => {
    tx.afterCommit(core.directory.drop)
    await tx.update(projects).set(columns).where(eq(projects.id, projectId))
  })
}

/** A project with limits. `send` accepts that many emails, each to a new address. */
export async function openLimited(
  t: Pick<TestContext, 'after'>,
  columns: LimitColumns = {},
  { settings, configure }: Pick<TestCoreOptions, 'settings' | 'configure'> = {},
) {
  const core = await openTestCore(t, {
    settings: { PILLARBOX_CAMPAIGNS__ROWS_AHEAD: '0', ...settings },
    ...(configure && { configure }),
  })
  const project = await addProject(core)
  await trustDomain(core, project.id, 'shop.test')
  if (Object.keys(columns).length > 0) await setColumns(core, project.id, columns)
  let sent = 0
  const send = async (count: number, project?: Project) =>
    acceptMessage(core, {
      project: project ?? (await findProject(core, projectId)),
      request: {
        to: Array.from({ length: count }, () => {
          sent += 1
          return { address: address(`r${sent}@people.test`), name: null }
        }),
        from: { address: address('shop@shop.test'), name: null },
        subject: 'Hi',
        body: '<p>Hi</p>',
      },
    })
  const projectId = project.id
  return { core, project, send }
}

export async function findProject(core: TestCore, id: string): Promise<Project> {
  const project = await core.directory.findProject(id)
  assert.ok(project)
  return project
}

export async function useOf(core: TestCore, projectId: string, at = core.clock.now) {
  const {
    startsAt: _,
    projectId: __,
    ...used
  } = (await core.store.read
    .select()
    .from(usageMonths)
    .where(and(eq(usageMonths.projectId, projectId), eq(usageMonths.startsAt, monthOf(at))))
    .get()) ?? { ...NOTHING, startsAt: 0, projectId }
  return used
}

/** The emails of the month that count, by category: neither failed nor suppressed. */
export async function recount(core: TestCore, projectId: string, at = core.clock.now) {
  const rows = await core.store.read.all<{ source: SourceType; count: number }>(
    sql`select source_type as source, count(*) as count from emails
      where project_id = ${projectId} and is_platform = 0
        and status not in ('FAILED', 'SUPPRESSED')
        and created_at >= ${monthOf(at)} and created_at < ${nextMonthOf(at)}
      group by source_type`,
  )
  const counts = rows.map(({ source, count }) => [categoryOf(source), count])
  return { ...NOTHING, ...Object.fromEntries(counts) }
}

/** Puts addresses on the suppression list, and leaves their contacts as they are. */
export async function suppressAll(
  core: TestCore,
  projectId: string,
  addresses: readonly string[],
): Promise<void> {
  const shared = { projectId, reason: 'MANUAL', source: 'test', createdAt: core.now() } as const
  await core.store.write((tx) =>
    tx
      .insert(suppressions)
      .values(addresses.map((address) => ({ id: newId(), address, emailId: null, ...shared }))),
  )
}

/** Handles all events as the server does. */
export async function follow(core: TestCore): Promise<void> {
  const follower = startLazyReader(core, [usageHandler()])
  await follower.caughtUp()
  await follower.stop()
}

/** The mail that members are to get, without ids. */
export async function noticesOf(core: TestCore) {
  const rows = await core.store.read
    .select({ payload: jobs.payload })
    .from(jobs)
    .where(eq(jobs.kind, 'platform-mail'))
    .orderBy(jobs.id)
  return rows.map(({ payload }) => {
    const { category, percent, limit, used } = payload as Record<string, unknown>
    return { category, percent, limit, used }
  })
}

export function marksOf(core: TestCore, projectId: string) {
  return core.store.read
    .select({ category: usageNotices.category, percent: usageNotices.percent })
    .from(usageNotices)
    .where(eq(usageNotices.projectId, projectId))
}

/** The use is as expected and equal to a recount, also after all events are handled, twice. */
export async function assertExact(
  core: TestCore,
  projectId: string,
  expected: Partial<typeof NOTHING>,
): Promise<void> {
  await follow(core)
  await follow(core)
  assert.deepEqual(await useOf(core, projectId), { ...NOTHING, ...expected })
  assert.deepEqual(await recount(core, projectId), { ...NOTHING, ...expected })
}
