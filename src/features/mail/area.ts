/**
 * The manifest of the area `mail`: the loops, jobs, retentions and tables of templates, emails and
 * their queue, domains and suppressions.
 */
import { isNotNull } from '../../store/drizzle.ts'
import { type Domain, domains } from '../../store/schema/domains.ts'
import {
  attempts,
  contents,
  type Email,
  emails,
  holds,
  type Template,
  templates,
} from '../../store/schema/messages.ts'
import { sandboxMessages } from '../../store/schema/service.ts'
import {
  heldSuppressions,
  knownDomains,
  type Suppression,
  strikes,
  suppressions,
} from '../../store/schema/suppressions.ts'
import type { Base } from '../ground/base.ts'
import type { Area } from '../ground/manifest/area.ts'
import { erasedByDeletion, erasedByReset, exported, ownedBy } from '../ground/manifest/table.ts'
import { checkDueDomains, deleteExpiredDomains } from './domains/check.ts'
import { toDomainRecord } from './domains/domains.ts'
import { startSettlingDisabled } from './messages/disabled/settle.ts'
import { startSettlingFenced } from './messages/fenced/settle.ts'
import { STRIKES } from './messages/outcome/strikes.ts'
import type { Fuse } from './messages/outcome/suppression-guards.ts'
import type { QueueNotifier } from './messages/queue/notifier.ts'
import { deleteExpiredContent, walksOf } from './messages/retention.ts'
import { deleteExpiredSandboxMessages } from './messages/sandbox-messages.ts'
import { toSummary } from './messages/summary.ts'
import { recheckDomains } from './suppressions/held-suppressions.ts'
import { importSuppressions, SHOWN_SUPPRESSION_IMPORT } from './suppressions/import-suppressions.ts'
import { toSuppressionRecord } from './suppressions/suppressions.ts'
import { TEMPLATE_REFERENCES } from './templates/list-templates.ts'
import { toTemplateRecord } from './templates/templates.ts'

type Parts = Base & { queueNotifier: QueueNotifier; fuse: Fuse }

export const mail: Area<Parts> = {
  name: 'mail',
  loops: [startSettlingFenced, startSettlingDisabled],
  jobs: [
    {
      // The job also runs while a fence stands: each check queries DNS anew, so mail about its
      // findings is new.
      name: 'check-domains',
      schedule: '*/5 * * * *',
      run: (parts, { signal }) => checkDueDomains(parts, signal),
    },
    {
      name: 'recheck-domains',
      schedule: '*/10 * * * *',
      run: (parts, { signal }) => recheckDomains(parts, signal),
    },
    {
      name: 'delete-expired-domains',
      schedule: '20 3 * * *',
      run: deleteExpiredDomains,
    },
    {
      name: 'delete-expired-content',
      schedule: '0 4 * * *',
      run: (parts) => deleteExpiredContent(parts, walksOf(parts)),
    },
    {
      name: 'delete-expired-sandbox-messages',
      schedule: '*/10 * * * *',
      run: (parts) => deleteExpiredSandboxMessages(parts, parts.config.retention.sandboxMessages),
    },
    // The job changes rows of this server only, and makes no events.
    {
      name: 'suppressions-import',
      atOnce: 2,
      fence: 'runs',
      run: importSuppressions,
      shown: SHOWN_SUPPRESSION_IMPORT,
    },
  ],
  retentions: [STRIKES],
  tables: [
    { table: sandboxMessages },
    { table: knownDomains },
    { table: holds },
    {
      table: domains,
      erasure: erasedByDeletion(domains),
      export: exported(domains, { view: (row: Domain, config) => toDomainRecord(row, config) }),
      sealed: {
        key: domains.id,
        columns: {
          rsaPrivateKey: domains.rsaPrivateKey,
          ed25519PrivateKey: domains.ed25519PrivateKey,
        },
      },
    },
    {
      table: heldSuppressions,
      erasure: erasedByDeletion(heldSuppressions),
      export: exported(heldSuppressions),
    },
    {
      table: suppressions,
      erasure: erasedByDeletion(suppressions),
      export: exported(suppressions, { view: (row: Suppression) => toSuppressionRecord(row) }),
    },
    { table: strikes, erasure: erasedByReset(strikes), export: exported(strikes) },
    {
      table: templates,
      erasure: erasedByReset(templates),
      export: exported(templates, { view: (row: Template) => toTemplateRecord(row) }),
    },
    { table: contents, erasure: { when: 'first' }, export: exported(contents) },
    {
      table: attempts,
      erasure: { when: 'owner' },
      export: exported(attempts, { condition: ownedBy('email_id', 'emails') }),
    },
    {
      table: emails,
      erasure: { when: 'first' },
      export: exported(emails, { view: (row: Email) => toSummary(row, undefined) }),
      sealed: {
        key: emails.id,
        columns: { sealedVariables: emails.sealedVariables },
        where: isNotNull(emails.sealedVariables),
      },
    },
  ],
  references: TEMPLATE_REFERENCES,
}
