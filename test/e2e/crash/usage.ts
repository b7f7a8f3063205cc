/**
 * A process that accepts, cancels and retries emails of two projects, one of which has a limit, until
 * somebody kills it. The first argument is its folder; a line on stdout follows each acceptance.
 */
import { loadConfig } from '../../../src/config/load.ts'
import { acceptMessage } from '../../../src/features/messages/accept/accept-message.ts'
import { cancelEmails, retryEmails } from '../../../src/features/messages/queue/operate.ts'
import { openCore } from '../../../src/features/open-core.ts'
import { startUsage } from '../../../src/features/usage/follow-events.ts'
import { silentLog } from '../../../src/log.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { addProject, address, SECRET, type TestCore, trustDomain } from '../../core.ts'

export const LIMIT = 300
const NAMES = ['Free', 'Limited']

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
  await core.store.write((tx) =>
    tx.update(projects).set({ limitTransactional }).where(eq(projects.id, id)),
  )
}

/** Every third email is cancelled, and every second one of those is tried again. */
async function acceptForever(core: UsageCore, projectId: string): Promise<never> {
  for (let round = 0; ; round += 1) {
    const project = await core.directory.findProject(projectId)
    if (project === undefined) throw new TypeError('the project is gone')
    const to = [0, 1, 2].map((index) => ({
      ...{ address: address(`r${round}.${index}@people.test`), name: null },
    }))
    const from = { address: address(`shop@${project.name.toLowerCase()}.test`), name: null }
    const request = { to, from, subject: 'Hi', body: '<p>Hi</p>' }
    const [first] = await acceptMessage(core, { project, request }).catch(() => [])
    process.stdout.write('accepted\n')
    if (first === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
    else await cancelEmails(core, [first.id])
    if (first !== undefined && round % 2 === 0) {
      await retryEmails(core, [first.id]).catch(() => undefined)
    }
  }
}

if (import.meta.main) {
  const core = await openUsageCore(process.argv[2] ?? '')
  startUsage(core)
  const rows = await core.store.read.select({ id: projects.id }).from(projects)
  const ids = rows.map(({ id }) => id)
  await Promise.all([...ids, ...ids].map((id) => acceptForever(core, id)))
}
