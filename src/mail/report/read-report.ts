/**
 * What comes back, understood: reports of delivery (RFC 3464, RFC 6533, and the prose of the mail
 * systems that write none), complaints (RFC 5965, RFC 6650) and automatic replies (RFC 3834). Pure:
 * octets in, a report out, in bounded time and memory, for any octets. Nothing in it is proven: who
 * acts on it holds the tokens against their signatures.
 */
import type { BounceReason, Verdict } from '../replies/classify-reply.ts'
import { listAliases } from './aliases.ts'
import {
  type Bounce,
  type Findings,
  listStatusTexts,
  readProseBounce,
  readStatusBounce,
} from './bounce.ts'
import { readComplaint } from './complaint.ts'
import { readDeliveryStatus } from './delivery-status.ts'
import { type Entity, maxReportOctets, readEntities } from './entity.ts'
import { type Field, findField, readFields } from './fields.ts'
import { judge, judgeAs } from './judge.ts'
import { findAddress } from './mailbox.ts'
import { readNotice } from './notice.ts'
import { type Original, readOriginal } from './original.ts'
import { readSesNotice, type SesNotice } from './ses-notice.ts'
import { readSigns } from './signs.ts'

/** Readers look for one more, so that it shows when there is. */
const maxReportRecipients = 50

export type ReportedAction = 'failed' | 'delayed' | 'delivered' | 'expanded' | 'relayed'

export type ReportedRecipient = {
  /** As reported (Final-Recipient, else Original-Recipient), in lower case; '' where unknown. */
  recipient: string
  originalRecipient: string | null
  action: ReportedAction
  /** RFC 3463, as `5.1.1`. */
  status: string | null
  /** RFC 5321, as 550. */
  replyCode: number | null
  /** `hard`: the address itself will never work; `undetermined`: no rule knows the reason. */
  class: 'hard' | 'soft' | 'undetermined'
  reason: BounceReason
  /** One line, control characters escaped, at most 1,000 characters. */
  diagnostic: string
  /** Of the rules at stage `late`; neither hard nor a strike unless the action is `failed`. */
  verdict: Verdict
}

export type Report = {
  kind: 'bounce' | 'complaint' | 'auto-reply' | 'other'
  recipients: ReportedRecipient[]
  /** RFC 5965 section 3.1: `abuse`, `auth-failure`, `opt-out` …; null unless a complaint. */
  feedbackType: string | null
  reportingMta: string | null
  /** Of the message that came back, when it did. */
  original: { messageId: string | null; subject: string | null }
  /**
   * Local parts `b.…` and `u.…` and values of X-Pillarbox-Id that stand inside the message that came
   * back or in the report's fields, lower case, unverified, at most 20.
   */
  tokens: string[]
  /** There is more of it: octets beyond the first 8 MiB, or recipients beyond the first 50. */
  truncated: boolean
  /** Of a bounce: what its prose calls the way to those who were not reached, lower case. */
  aliases: string[]
}

/** Never throws, whatever the octets are. */
export function readReport(raw: Buffer): Report {
  const report = interpret(readEntities(raw))
  return raw.length > maxReportOctets ? { ...report, truncated: true } : report
}

function interpret(entities: readonly Entity[]): Report {
  const [root] = entities
  const notice = readNotice(entities)
  const complaint = readComplaint(entities)
  const signs = root === undefined ? undefined : readSigns(root, notice.text)
  const nested = signs?.isBounce === true ? notice.returned : ''
  const statusTexts = listStatusTexts(entities, { notice: notice.text, nested })
  const reports = [...statusTexts.map((text) => readFields(text)), complaint?.fields ?? []]
  const original = readOriginal(entities, { returned: notice.returned, reports })
  if (complaint !== undefined) return complaintOf(complaint, original)
  if (root === undefined || signs === undefined) return reportOf('other', original)
  const ses = readSesNotice(notice.text)
  if (ses !== undefined) return sesReport(ses, original)
  const findings: Findings = { entities, notice: notice.text, signs, original }
  const statuses = statusTexts.map(readDeliveryStatus)
  if (statuses.some(({ groups }) => groups.length > 0)) {
    return bounceOf(readStatusBounce(statuses, findings), findings)
  }
  if (signs.isBounce) return bounceOf(readProseBounce(findings), findings)
  if (!signs.isAutoReply) return reportOf('other', original)
  const from = findAddress(findField(root.fields, 'from') ?? '') ?? ''
  return { ...reportOf('auto-reply', original), recipients: [judgeAs('vacation', from)] }
}

function reportOf(kind: Report['kind'], { messageId, subject, tokens }: Original): Report {
  const original = { messageId, subject }
  const nothing = { recipients: [], feedbackType: null, reportingMta: null, aliases: [] }
  return { ...nothing, kind, original, tokens, truncated: false }
}

type Told = Pick<Findings, 'notice' | 'original'>

function bounceOf(bounce: Bounce, { notice, original }: Told): Report {
  const { recipients } = bounce
  return {
    ...reportOf('bounce', original),
    ...bounce,
    recipients: recipients.slice(0, maxReportRecipients),
    truncated: recipients.length > maxReportRecipients,
    aliases: listAliases(notice),
  }
}

type Complainers = { feedbackType: string; recipients: readonly string[]; fields?: Field[] }

function complaintOf(
  { feedbackType, recipients, fields = [] }: Complainers,
  original: Original,
): Report {
  const reportingMta =
    findField(fields, 'reporting-mta')?.replace(/^[\w-]{1,20}\s*;\s*/, '') ?? null
  const judged = recipients
    .slice(0, maxReportRecipients)
    .map((recipient) => judgeAs('feedback', recipient))
  const truncated = recipients.length > maxReportRecipients
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
    judge({ ...recipient, originalRecipient: null, texts: [diagnostic], notice: '' }),
  )
  return bounceOf({ recipients, reportingMta: notice.reportingMta }, { notice: '', original })
}
