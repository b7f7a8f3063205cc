/** What the area of tenancy hands in: accounts, projects, billing, images. */
import { sql } from '../../store/drizzle.ts'
import {
  accountTokens,
  identities,
  invitations,
  memberships,
  projects,
  recoveryCodes,
  sessions,
  setupLinks,
  type User,
  users,
} from '../../store/schema/accounts.ts'
import { meteringBatches, stripeEvents } from '../../store/schema/billing.ts'
import { type Upload, uploads } from '../../store/schema/uploads.ts'
import type { Base } from '../ground/base.ts'
import type { Area } from '../ground/manifest/area.ts'
import { erasedByDeletion, exported, ownedBy } from '../ground/manifest/table.ts'
import type { QueueNotifier } from '../mail/messages/queue/notifier.ts'
import { INVITATIONS } from './accounts/invitations/invite.ts'
import { PLATFORM_MAIL_KIND } from './accounts/platform-mail/enqueue.ts'
import { sendPlatformMail } from './accounts/platform-mail/send.ts'
import { findPlatformSender } from './accounts/platform-mail/sender.ts'
import { SESSIONS } from './accounts/sessions/sessions.ts'
import { BILLING, billingHandler, startBilling } from './billing/billing.ts'
import { CANCELLATION_KIND, runCancellation } from './billing/cancel.ts'
import type { StripeClient } from './billing/stripe.ts'
import { deleteOrphanedFiles, toListedUploadRecord } from './uploads/project-images.ts'

type Parts = Base & { stripe: StripeClient | null; queueNotifier: QueueNotifier }

export const tenancy: Area<Parts> = {
  name: 'tenancy',
  loops: [startBilling],
  lazyHandlers: [billingHandler],
  jobs: [
    {
      name: 'delete-orphaned-images',
      schedule: '37 * * * *',
      // A run reads the names of all images.
      atOnce: 1,
      run: (parts, { signal }) => deleteOrphanedFiles(parts, signal),
    },
    {
      // Each run judges the sender again, so `/health` shows whether mail to users can be sent, without
      // waiting for the next mail.
      name: 'check-platform-mail',
      schedule: '*/5 * * * *',
      run: async (parts) => void (await findPlatformSender(parts)),
    },
    // These jobs send mail to people and requests to Stripe.
    {
      name: PLATFORM_MAIL_KIND,
      atOnce: 2,
      fence: 'waits',
      run: sendPlatformMail,
    },
    {
      name: CANCELLATION_KIND,
      atOnce: 2,
      fence: 'waits',
      run: runCancellation,
    },
  ],
  retentions: [SESSIONS, INVITATIONS, BILLING],
  tables: [
    {
      table: projects,
      export: exported(projects, { name: 'project', condition: (id) => sql`id = ${id}` }),
    },
    {
      table: memberships,
      erasure: erasedByDeletion(memberships, { key: () => sql`user_id, project_id` }),
      export: exported(memberships),
    },
    {
      table: users,
      export: exported(users, {
        condition: ownedBy('id', 'memberships', 'user_id'),
        // Only id and address of a member are exported, because accounts belong to the server.
        view: ({ id, address }: User) => ({ id, email: address }),
        isWholeView: true,
      }),
      sealed: { key: users.id, columns: { totpSecret: users.totpSecret } },
    },
    { table: invitations, erasure: erasedByDeletion(invitations), export: exported(invitations) },
    { table: recoveryCodes },
    { table: identities },
    { table: sessions },
    { table: accountTokens },
    { table: setupLinks },
    {
      table: uploads,
      erasure: erasedByDeletion(uploads),
      export: exported(uploads, {
        view: (row: Upload, config) => toListedUploadRecord(config, row),
      }),
    },
    {
      // A deletion keeps the batches, because the mail that a deleted project sent is still
      // charged.
      table: meteringBatches,
      erasure: { when: 'never' },
      export: 'the accounts of this server with Stripe',
    },
    { table: stripeEvents },
  ],
  references: [],
}
