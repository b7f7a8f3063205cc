/**
 * A process that accepts, suppresses, cancels and retries emails of two projects, one of which has a limit,
 * until somebody kills it. Each request has a suppressed address, too. The first argument is its folder; a line on stdout follows each acceptance.
 */

import { silentLog } from '../../../src/base/log.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openCore } from '../../../src/core/open-core.ts'
import { startLazyReader } from '../../../src/features/ground/events/readers.ts'
import { usageHandler } from '../../../src/features/ground/usage/follow-events.ts'
import { acceptMessage } from '../../../src/features/mail/messages/accept/accept-message.ts'
import { endEmails } from '../../../src/features/mail/messages/outcome/end-emails.ts'
import { suppress } from '../../../src/features/mail/messages/outcome/suppression.ts'
import { cancelEmails, retryEmails } from '../../../src/features/mail/messages/queue/operate.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { emails } from '../../../src/store/schema/messages.ts'
import { addProject, address, SECRET, type TestCore, trustDomain } from '../../core.ts'

export const LIMIT = 300
const NAMES = ['Free', 'Limited']
const SUPPRESSED = 'never@people.test'

export function openUsageCore(folder: string) {
  const env = { PILLARBOX_SECRET: SECRET, PILLARBOX_DATA_DIR: folder }
  const config = loadConfig({ cwd: folder, systemFile: `${folder}/none`, env })
  return openCore(config, { log: silentLog() })
}

type UsageCore = Awaited<ReturnType<typeof openUsageCore>>

export async function makeProjects(core: UsageCore): Promise<void> {
  for (const name of NAMES) await makeProject(core, name)
}

async function makeProject(core: UsageCore, name: string): Promise<void> {
  const { id } = await addProject(core as unknown as TestCore, name)
  await trustDomain(core as unknown as TestCore, id, `${name.toLowerCase()}.test`)
  const limitTransactional = name === 'Limited' ? LIMIT : null
  const by = { reason: 'MANUAL', source: 'test', emailId: null, at: core.now() } as const
  await core.store.write(async (tx) => {
    await tx.update(projects).set({ limitTransactional }).where(eq(projects.id, id))
    await suppress(tx, { projectId: id, address: SUPPRESSED, ...by })
  })
}

/**
 * Every third email is cancelled, and every second one of those is tried again. One of each third request
 * is suppressed afterwards.
 */
async function acceptForever(core: UsageCore, projectId: string): Promise<never> {
  for (let round = 0; ; round += 1) {
    const project = await core.directory.findProject(projectId)
    if (project === undefined) throw new TypeError('the project is gone')
    const recipients = [0, 1, 2].map((index) => `r${round}.${index}@people.test`)
    const to = [...recipients, SUPPRESSED].map((each) => ({ address: address(each), name: null }))
    const from = { address: address(`shop@${project.name.toLowerCase()}.test`), name: null }
    const request = { to, from, subject: 'Hi', body: '<p>Hi</p>' }
    const [first, second] = await acceptMessage(core, { project, request }).catch(() => [])
    process.stdout.write('accepted\n')
    if (first === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    else await cancelEmails(core, [first.id])
    if (first !== undefined && round % 2 === 0) {
      await retryEmails(core, [first.id]).catch(() => undefined)
    }
    if (second !== undefined && round % 3 === 0) await endSuppressed(core, second.id)
  }
}

async function endSuppressed(core: UsageCore, id: string): Promise<void> {
  const end = { state: 'suppressed' } as const
  await core.store.write(async (tx) => {
    const email = await tx.select().from(emails).where(eq(emails.id, id)).get()
    if (email !== undefined) {
      await endEmails(core, tx, { endings: [{ email, end }], at: email.createdAt })
    }
  })
}

if (import.meta.main) {
  const core = await openUsageCore(process.argv[2] ?? '')
  startLazyReader(core, [usageHandler()])
  const rows = await core.store.read.select({ id: projects.id }).from(projects)
  const ids = rows.map(({ id }) => id)
  await Promise.all([...ids, ...ids].map((id) => acceptForever(core, id)))
}
