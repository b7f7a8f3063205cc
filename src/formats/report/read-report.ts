/**
 * Reads reports: delivery status notifications (RFC 3464, RFC 6533), bounces in prose, complaints
 * (RFC 5965, RFC 6650) and automatic replies (RFC 3834). Pure: any octets give a report, in bounded
 * time and memory. A report proves nothing: callers must verify the signatures of its tokens.
 */
import { type Entity, MAX_REPORT_OCTETS, readEntities } from '../parse/entity.ts'
import { type Field, findField, readFields } from '../parse/fields.ts'
import { findAddress } from '../parse/find-address.ts'
import {
  type Bounce,
  listStatusTexts,
  type ReportContext,
  readProseBounce,
  readStatusBounce,
} from './bounce.ts'
import { classifyReached, classifyRecipient } from './classify-recipient.ts'
import { readComplaint } from './complaint.ts'
import { readDeliveryStatus } from './delivery-status.ts'
import { type Arrival, detectMessageKind } from './message-kind.ts'
import { type Original, readOriginal } from './original.ts'
import { readNotice } from './prose.ts'
import { MAX_REPORT_RECIPIENTS, type ReportedRecipient } from './reported-recipient.ts'
import { readSesNotice, type SesNotice } from './ses-notice.ts'

export type Report = {
  kind: 'bounce' | 'complaint' | 'auto-reply' | 'other'
  recipients: ReportedRecipient[]
  /**
   * The type of a complaint (RFC 5965 section 3.1): `abuse`, `auth-failure`, `opt-out` …; null for
   * any other report.
   */
  feedbackType: string | null
  reportingMta: string | null
  /** Fields of the returned message; null for a field that the report does not contain. */
  original: { messageId: string | null; subject: string | null }
  /**
   * Unverified tokens in lower case, at most 20: local parts `b.…` and `u.…`, and values of
   * X-Pillarbox-Id, from the returned message or the fields of the report.
   */
  tokens: string[]
  /**
   * The rest of the report was not read, because it has more than 8 MiB or more than 50 recipients.
   */
  truncated: boolean
  /** Addresses in lower case which the prose of a bounce calls aliases of the failed recipients. */
  aliases: string[]
}

type ComplaintSource = { feedbackType: string; recipients: readonly string[]; fields?: Field[] }

const MAX_ALIAS_TEXT_LENGTH = 60_000
const MAX_ALIASES = 50
const ALIAS_NOTE =
  /\((?:ultimately )?(?:generated|expanded)\s{1,9}from:?\s{1,20}<?([^\s<>()]{1,320})>?\s{0,9}\)/gi

/** Reads a report. Never throws. */
export function readReport(raw: Buffer): Report {
  return readReportIn(readEntities(raw), { sizeBytes: raw.length })
}

/**
 * Like `readReport`, for a message whose parts were read. `sizeBytes`: the size of the whole
 * message.
 */
export function readReportIn(
  entities: readonly Entity[],
  { sizeBytes, ...session }: Arrival & { sizeBytes: number },
): Report {
  const report = reportFromEntities(entities, session)
  return sizeBytes > MAX_REPORT_OCTETS ? { ...report, truncated: true } : report
}

/**
 * A report that a person forwards or quotes in a message of their own does not count as a report.
 */
function reportFromEntities(entities: readonly Entity[], session: Arrival): Report {
  const [root, ...parts] = entities
  const notice = readNotice(entities)
  const kind =
    root === undefined
      ? undefined
      : detectMessageKind([root, ...parts], { ...session, notice: notice.text })
  const isReport = kind?.isReport === true
  const complaint = readComplaint(entities, { isReport })
  const nested = kind?.isBounce === true ? notice.returned : ''
  const statusTexts = isReport ? listStatusTexts(entities, { notice: notice.text, nested }) : []
  const reports = [...statusTexts.map((text) => readFields(text)), complaint?.fields ?? []]
  const original = readOriginal(entities, { returned: notice.returned, reports })
  if (complaint !== undefined) return complaintOf(complaint, original)
  if (root === undefined || kind === undefined) return reportOf('other', original)
  const ses = isReport || isJson(notice.text) ? readSesNotice(notice.text) : undefined
  if (ses !== undefined) return sesReport(ses, original)
  const context: ReportContext = { entities, notice: notice.text, kind, original }
  const statuses = statusTexts.map(readDeliveryStatus)
  if (statuses.some(({ groups }) => groups.length > 0)) {
    return bounceOf(readStatusBounce(statuses, context), context)
  }
  const bounce = kind.isBounce ? readProseBounce(context) : undefined
  if (bounce !== undefined) return bounceOf(bounce, context)
  if (!kind.isAutoReply) return reportOf('other', original)
  const from = findAddress(findField(root.fields, 'from') ?? '') ?? ''
  return { ...reportOf('auto-reply', original), recipients: [classifyReached('vacation', from)] }
}

/** Whether the text is JSON and has no words of a person above it. */
function isJson(text: string): boolean {
  return /^\s{0,99}\{/.test(text)
}

function reportOf(kind: Report['kind'], { messageId, subject, tokens }: Original): Report {
  const original = { messageId, subject }
  const nothing = { recipients: [], feedbackType: null, reportingMta: null, aliases: [] }
  return { ...nothing, kind, original, tokens, truncated: false }
}

function bounceOf(
  bounce: Bounce,
  { notice, original }: Pick<ReportContext, 'notice' | 'original'>,
): Report {
  const { recipients } = bounce
  return {
    ...reportOf('bounce', original),
    ...bounce,
    recipients: recipients.slice(0, MAX_REPORT_RECIPIENTS),
    truncated: recipients.length > MAX_REPORT_RECIPIENTS,
    aliases: listAliases(notice),
  }
}

function complaintOf(
  { feedbackType, recipients, fields = [] }: ComplaintSource,
  original: Original,
): Report {
  const reportingMta =
    findField(fields, 'reporting-mta')?.replace(/^[\w-]{1,20}\s*;\s*/, '') ?? null
  const judged = recipients
    .slice(0, MAX_REPORT_RECIPIENTS)
    .map((recipient) => classifyReached('feedback', recipient))
  const truncated = recipients.length > MAX_REPORT_RECIPIENTS
  return {
    ...reportOf('complaint', original),
    recipients: judged,
    feedbackType,
    reportingMta,
    truncated,
  }
}

function sesReport(notice: SesNotice, original: Original): Report {
  if (notice.type === 'complaint') return complaintOf(notice, original)
  const recipients = notice.recipients.map(({ diagnostic, ...recipient }) =>
    classifyRecipient({ ...recipient, originalRecipient: null, texts: [diagnostic], notice: '' }),
  )
  return bounceOf({ recipients, reportingMta: notice.reportingMta }, { notice: '', original })
}

/**
 * Lists the aliases that a report names, distinct and in lower case: `(generated from …)` of Exim,
 * `(expanded from …)` of Postfix and Sendmail. The delivery failed for an address behind the alias,
 * even if the fields of the report name the alias. An alias may be a local part only, if the report
 * has no more.
 */
function listAliases(notice: string): string[] {
  const found = notice.slice(0, MAX_ALIAS_TEXT_LENGTH).matchAll(ALIAS_NOTE)
  const aliases = new Set<string>()
  for (const [, address = ''] of found) {
    aliases.add(address.toLowerCase())
    if (aliases.size === MAX_ALIASES) break
  }
  return [...aliases]
}
