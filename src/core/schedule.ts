/**
 * The table of jobs: those that run at fixed times (UTC), and those that requests enqueue. The
 * database stores the names of jobs, so a name stays when its function is renamed.
 */

import { deleteExpiredChunks } from '../features/ground/chunks.ts'
import { runEventDeletion } from '../features/ground/events/delete.ts'
import { IDEMPOTENCY_KEYS } from '../features/ground/requests/idempotency.ts'
import { REQUESTS } from '../features/ground/requests/retention.ts'
import { deleteExpiredInboundMessages } from '../features/incoming/receiving/retention.ts'
import { NOTIFICATIONS } from '../features/incoming/sns/processed-messages.ts'
import { deleteExpiredQuarters } from '../features/insight/analytics/counting/retention.ts'
import { deleteExpiredHours } from '../features/insight/reputation/counters.ts'
import { checkDueDomains } from '../features/mail/domains/check-due.ts'
import { deleteExpiredDomains } from '../features/mail/domains/expire-unverified.ts'
import { recheckDomains } from '../features/mail/messages/outcome/recheck-domains.ts'
import { STRIKES } from '../features/mail/messages/outcome/strikes.ts'
import { createWalks, deleteExpiredContent } from '../features/mail/messages/retention.ts'
import { deleteExpiredSandboxMessages } from '../features/mail/messages/sandbox-messages.ts'
import { importSuppressions } from '../features/mail/suppressions/import-suppressions.ts'
import { DELETION_KIND, RESET_KIND } from '../features/operation/erasure/kinds.ts'
import { resumeErasures } from '../features/operation/erasure/resume.ts'
import { runDeletion, runReset } from '../features/operation/erasure/run.ts'
import { countUncounted } from '../features/outreach/campaigns/audience/total-recipients.ts'
import { REPLAY_KIND, replayEvents } from '../features/outreach/webhooks/deliveries/replay-range.ts'
import { deleteExpiredDeliveries } from '../features/outreach/webhooks/deliveries/retention.ts'
import { CLEAR_KIND, clearEndpoint } from '../features/outreach/webhooks/endpoints/disable.ts'
import { ERASE_KIND, eraseWorkflows } from '../features/outreach/workflows/definition/erase.ts'
import { runBulkStart } from '../features/outreach/workflows/executions/bulk/run.ts'
import { BULK_START_KIND } from '../features/outreach/workflows/executions/bulk/start.ts'
import { runBulk } from '../features/people/contacts/bulk/run.ts'
import { runFieldDeletion } from '../features/people/contacts/fields/delete.ts'
import { importContacts } from '../features/people/import-export/import-contacts.ts'
import { deleteExpiredImportFiles } from '../features/people/import-export/import-file.ts'
import { deleteMemberships } from '../features/people/segments/delete.ts'
import { refreshSegments } from '../features/people/segments/refresh-all.ts'
import { deleteSeenChanges } from '../features/people/segments/retention.ts'
import { runListVerification } from '../features/people/verification/bulk/run.ts'
import { LIST_JOB_KIND } from '../features/people/verification/bulk/start.ts'
import { ERASED_RECIPIENTS } from '../features/people/wishes/erased-recipients.ts'
import { INVITATIONS } from '../features/tenancy/accounts/invitations/retention.ts'
import { PLATFORM_MAIL_KIND } from '../features/tenancy/accounts/platform-mail/enqueue.ts'
import { sendPlatformMail } from '../features/tenancy/accounts/platform-mail/send.ts'
import { findPlatformSender } from '../features/tenancy/accounts/platform-mail/sender.ts'
import { SESSIONS } from '../features/tenancy/accounts/sessions/expiry.ts'
import { CANCELLATION_KIND, runCancellation } from '../features/tenancy/billing/cancel.ts'
import { BILLING } from '../features/tenancy/billing/retention.ts'
import { deleteOrphanedFiles } from '../features/tenancy/uploads/delete-orphaned-files.ts'
import type { CronEntry } from '../jobs/cron.ts'
import type { JobHandler, RunningJob } from '../jobs/run.ts'
import { deleteExpired, type Retention } from '../work/retention.ts'
import type { Core } from './core.ts'

type Schedule = {
  handlers: Record<string, JobHandler>
  cron: CronEntry[]
  limits: Record<string, number>
}

/**
 * `atOnce`: the number of slots that this kind has of its own, for long, interruptible work; other
 * kinds share slots. Each project runs one job of such a kind at a time, so a kind that requests
 * enqueue has at least two: one project does not hold up all others.
 */
type ScheduledTask = { name: string; schedule: string; atOnce?: number; run: JobHandler }

const RETENTIONS: readonly Retention[] = [
  REQUESTS,
  IDEMPOTENCY_KEYS,
  SESSIONS,
  NOTIFICATIONS,
  INVITATIONS,
  ERASED_RECIPIENTS,
  STRIKES,
  BILLING,
]

export function createSchedule(core: Core): Schedule {
  const { config } = core
  const walks = createWalks()
  const tasks: ScheduledTask[] = [
    ...RETENTIONS.map((retention) => ({
      name: retention.name,
      schedule: retention.schedule,
      run: ({ signal }: RunningJob) => deleteExpired(core, retention, signal),
    })),
    {
      name: 'check-domains',
      schedule: '*/5 * * * *',
      run: ({ signal }) => checkDueDomains(core, signal),
    },
    { name: 'lapse-domain-claims', schedule: '20 3 * * *', run: () => deleteExpiredDomains(core) },
    {
      name: 'clear-old-bodies',
      schedule: '0 4 * * *',
      run: () => deleteExpiredContent(core, walks),
    },
    { name: 'sweep-chunks', schedule: '27 * * * *', run: () => deleteExpiredChunks(core) },
    { name: 'sweep-uploads', schedule: '47 * * * *', run: () => deleteExpiredImportFiles(core) },
    {
      name: 'sweep-images',
      schedule: '37 * * * *',
      // A run reads the names of all images.
      atOnce: 1,
      run: ({ signal }) => deleteOrphanedFiles(core, signal),
    },
    {
      name: 'delete-old-arrivals',
      schedule: '20 4 * * *',
      run: () => deleteExpiredInboundMessages(core),
    },
    {
      name: 'recheck-domains',
      schedule: '*/10 * * * *',
      run: ({ signal }) => recheckDomains(core, signal),
    },
    {
      name: 'delete-old-reputation',
      schedule: '10 3 * * *',
      run: ({ signal }) => deleteExpiredHours(core, signal),
    },
    {
      name: 'delete-old-quarters',
      schedule: '40 4 * * *',
      // A run may take minutes, and a stop of the program does not wait for it.
      atOnce: 1,
      run: ({ signal }) => deleteExpiredQuarters(core, signal),
    },
    {
      name: 'delete-seen-changes',
      schedule: '45 3 * * *',
      run: ({ signal }) => deleteSeenChanges(core, signal),
    },
    {
      name: 'delete-old-webhooks',
      schedule: '10 4 * * *',
      run: ({ signal }) => deleteExpiredDeliveries(core, signal),
    },
    {
      name: 'refresh-segments',
      schedule: '*/5 * * * *',
      // A run may take minutes, and a stop of the program does not wait for it.
      atOnce: 1,
      run: ({ signal }) => refreshSegments(core, signal),
    },
    {
      name: 'count-recipients',
      schedule: '* * * * *',
      atOnce: 1,
      run: ({ signal }) => countUncounted(core, signal),
    },
    {
      name: 'resume-erasures',
      schedule: '*/10 * * * *',
      run: () => resumeErasures(core),
    },
    {
      // `/health` tells of mail that cannot be sent, and of its end, without waiting for the next mail.
      name: 'check-platform-mail',
      schedule: '*/5 * * * *',
      run: async () => void (await findPlatformSender(core)),
    },
    {
      name: 'trim-sandbox',
      schedule: '*/10 * * * *',
      run: () => deleteExpiredSandboxMessages(core, config.retention.sandboxMessages),
    },
  ]
  const long = longWork(core)
  return {
    handlers: Object.fromEntries([...tasks, ...long].map(({ name, run }) => [name, run])),
    cron: tasks.map(({ name, schedule }) => ({ name, schedule, kind: name })),
    limits: Object.fromEntries(
      [...tasks, ...long].flatMap(({ name, atOnce }) => (atOnce ? [[name, atOnce]] : [])),
    ),
  }
}

/** The kinds that requests enqueue. Their jobs save their progress. */
function longWork(core: Core): Required<Omit<ScheduledTask, 'schedule'>>[] {
  return [
    { name: 'import', atOnce: 2, run: (job) => importContacts(core, job) },
    { name: 'suppressions-import', atOnce: 2, run: (job) => importSuppressions(core, job) },
    { name: 'bulk', atOnce: 3, run: (job) => runBulk(core, job) },
    { name: 'delete-field', atOnce: 2, run: (job) => runFieldDeletion(core, job) },
    { name: 'delete-events', atOnce: 2, run: (job) => runEventDeletion(core, job) },
    { name: LIST_JOB_KIND, atOnce: 3, run: (job) => runListVerification(core, job) },
    { name: 'clear-segment', atOnce: 2, run: (job) => deleteMemberships(core, job) },
    { name: BULK_START_KIND, atOnce: 3, run: (job) => runBulkStart(core, job) },
    { name: ERASE_KIND, atOnce: 2, run: (job) => eraseWorkflows(core, job) },
    { name: CLEAR_KIND, atOnce: 2, run: (job) => clearEndpoint(core, job) },
    { name: RESET_KIND, atOnce: 2, run: (job) => runReset(core, job) },
    { name: DELETION_KIND, atOnce: 2, run: (job) => runDeletion(core, job) },
    { name: PLATFORM_MAIL_KIND, atOnce: 2, run: (job) => sendPlatformMail(core, job) },
    { name: CANCELLATION_KIND, atOnce: 2, run: (job) => runCancellation(core, job) },
    { name: REPLAY_KIND, atOnce: 2, run: (job) => replayEvents(core, job) },
  ]
}
