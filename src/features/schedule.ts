/** The server's work by the clock (UTC): which job, when, and which verb does it. */
import type { CronEntry } from '../jobs/cron.ts'
import type { JobHandler } from '../jobs/jobs.ts'
import type { Core } from './core.ts'
import { checkDueDomains } from './domains/due.ts'
import { deleteLapsedClaims } from './domains/lapse.ts'
import { sweepKeys } from './messages/idempotency.ts'
import { clearOldBodies } from './messages/retention.ts'
import { trimSandbox } from './messages/sandbox.ts'
import { deleteOldStrikes } from './messages/strikes.ts'
import { deleteOldArrivals } from './receiving/retention.ts'
import { deleteOldRequests } from './requests/retention.ts'
import { forgetNotifications } from './sns/once.ts'

export type Schedule = { handlers: Record<string, JobHandler>; cron: CronEntry[] }

export function createSchedule(core: Core): Schedule {
  const { store, config, now } = core
  const tasks: { name: string; schedule: string; run: JobHandler }[] = [
    {
      name: 'check-domains',
      schedule: '*/5 * * * *',
      run: ({ signal }) => checkDueDomains(core, signal),
    },
    { name: 'lapse-domain-claims', schedule: '20 3 * * *', run: () => deleteLapsedClaims(core) },
    { name: 'delete-old-requests', schedule: '0 3 * * *', run: () => deleteOldRequests(core) },
    { name: 'clear-old-bodies', schedule: '0 4 * * *', run: () => clearOldBodies(core) },
    {
      name: 'sweep-idempotency-keys',
      schedule: '17 * * * *',
      run: () => store.write((tx) => sweepKeys(tx, now())),
    },
    {
      name: 'forget-notifications',
      schedule: '40 3 * * *',
      run: () => forgetNotifications(core),
    },
    { name: 'delete-old-arrivals', schedule: '20 4 * * *', run: () => deleteOldArrivals(core) },
    { name: 'delete-old-strikes', schedule: '50 3 * * *', run: () => deleteOldStrikes(core) },
    {
      name: 'trim-sandbox',
      schedule: '*/10 * * * *',
      run: () => trimSandbox(core, config.retention.sandboxMessages),
    },
  ]
  return {
    handlers: Object.fromEntries(tasks.map(({ name, run }) => [name, run])),
    cron: tasks.map(({ name, schedule }) => ({ name, schedule, kind: name })),
  }
}
