/**
 * Checks a campaign for faults that its author may want to mend before it is sent. The campaign is
 * rendered for some of its recipients, as a send renders it. A finding is only information: it does
 * not keep the campaign from being sent.
 */
import { AppError } from '../../../../base/errors.ts'
import { displayDomain } from '../../../../formats/address/address.ts'
import type { MessageFinding } from '../../../../formats/compose/message-findings.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { readStoredCondition } from '../../../ground/conditions/condition.ts'
import { findMisfits } from '../../../ground/conditions/find-misfits.ts'
import {
  NO_CONTACT,
  type PreviewDeps,
  type PreviewReader,
  toPreviewSource,
} from '../../../mail/previews/render-preview.ts'
import { findForeignSyntax } from '../../../mail/templates/foreign-syntax.ts'
import type { ContactScope } from '../../../people/contacts/list/scope.ts'
import { walkContacts } from '../../../people/contacts/list/walk.ts'
import { parseData } from '../../../people/contacts/write/data.ts'
import { checkSegment } from '../../../people/segments/check.ts'
import { type AudienceCount, countAudience } from '../audience/count.ts'
import { audienceScope, describeLeftOut, recipientScope } from '../audience/scope.ts'
import { type FoundCampaign, loadCampaign } from '../campaign.ts'
import { describePartFault } from '../render.ts'
import { findUnfilledVariables } from './unfilled-variables.ts'

type Deps = PreviewDeps & Pick<Base, 'store' | 'directory'>

/** The campaign is rendered for this many recipients. */
const SAMPLE = 10
const SEVERITIES = ['error', 'warning', 'info']

/** Returns the findings, errors first. @throws AppError CAMPAIGN_NOT_FOUND */
export async function checkCampaign(
  deps: Deps,
  project: Project,
  id: string,
): Promise<{ findings: MessageFinding[] }> {
  const campaign = await loadCampaign(deps.store.read, { projectId: project.id, id })
  const audience = await findAudience(deps, campaign)
  const recipients = 'scope' in audience ? await findSample(deps, audience.scope) : []
  const findings = [
    ...(await checkSender(deps, campaign)),
    ...('problem' in audience
      ? [audience.problem]
      : recipients.length === 0
        ? [nobody(campaign)]
        : []),
    ...(await checkTexts(deps, { project, campaign, recipients })),
    ...findForeignSyntax([campaign.subject, campaign.body]),
    ...('scope' in audience && recipients.length > 0
      ? await findUnfilledVariables(deps, campaign, audience.scope)
      : []),
    ...('scope' in audience ? await findInAudience(deps, campaign) : []),
    ...(recipients.length > 0 ? await tellNumbers(deps, campaign) : []),
  ]
  const rank = ({ severity }: MessageFinding) => SEVERITIES.indexOf(severity)
  return { findings: findings.toSorted((one, other) => rank(one) - rank(other)) }
}

async function findAudience(
  deps: Deps,
  campaign: FoundCampaign,
): Promise<{ scope: ContactScope } | { problem: MessageFinding }> {
  try {
    const scope = await audienceScope(deps, campaign)
    return { scope: recipientScope(scope, campaign.type) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const isSegment = campaign.audienceType === 'SEGMENT'
    const code = isSegment ? 'segment_missing' : 'condition_invalid'
    const fix = 'Choose another audience.'
    return { problem: { code, severity: 'error', message: error.message, fix } }
  }
}

/**
 * Finds faults in the condition of the audience, or of its segment, that make it select other
 * contacts than its author may have meant.
 */
async function findInAudience(deps: Deps, campaign: FoundCampaign): Promise<MessageFinding[]> {
  const { projectId, audienceType, audienceCondition, segmentId } = campaign
  if (audienceType === 'SEGMENT' && segmentId !== null) {
    return (await checkSegment(deps, { projectId, id: segmentId })).findings
  }
  if (audienceType !== 'FILTERED') return []
  const condition = readStoredCondition(audienceCondition, 'The campaign')
  return findMisfits(deps, { projectId, condition })
}

/**
 * Finds out whether the campaign would go to everybody or to unsubscribed contacts, which its
 * author may not have meant.
 */
async function tellNumbers(deps: Deps, campaign: FoundCampaign): Promise<MessageFinding[]> {
  const isToEverybody = campaign.audienceType === 'ALL'
  if (!isToEverybody && campaign.type !== 'TRANSACTIONAL') return []
  const count = await countAudience(deps, campaign)
  return [
    ...(count.unsubscribedRecipients > 0 ? [unsubscribedRecipients(count)] : []),
    ...(isToEverybody ? [everybody(count)] : []),
  ]
}

function unsubscribedRecipients({
  willReceive,
  unsubscribedRecipients,
}: AudienceCount): MessageFinding {
  const few = unsubscribedRecipients === 1 ? 'is unsubscribed and gets' : 'are unsubscribed and get'
  const who =
    willReceive === 1
      ? 'The only recipient'
      : `${format(unsubscribedRecipients)} of the ${format(willReceive)} recipients`
  return {
    code: 'unsubscribed_recipients',
    severity: 'warning',
    message: `${who} ${few} the campaign all the same, without the footer and its link to unsubscribe: the type is TRANSACTIONAL.`,
    fix: 'Unless each of them needs the email, set type to MARKETING: the campaign then leaves them out.',
  }
}

function everybody({ willReceive, unsubscribedRecipients }: AudienceCount): MessageFinding {
  const contacts = willReceive === 1 ? 'the only contact' : `all ${format(willReceive)} contacts`
  const some = `${format(unsubscribedRecipients)} of them`
  const left = willReceive === 1 ? ', who is unsubscribed' : `, ${some} unsubscribed`
  return {
    code: 'everybody',
    severity: 'info',
    message: `The audience is everybody: the campaign goes to ${contacts} that can get it${unsubscribedRecipients > 0 ? left : ''}.`,
    fix: 'If it is meant for some of them, set audienceType to SEGMENT or FILTERED.',
  }
}

function format(count: number): string {
  return count.toLocaleString('en')
}

/** The first contacts that would get the campaign. */
async function findSample(deps: Deps, scope: ContactScope): Promise<PreviewReader[]> {
  for await (const page of walkContacts(deps, scope, { size: SAMPLE })) return page
  return []
}

function nobody({ type }: FoundCampaign): MessageFinding {
  return {
    code: 'empty_audience',
    severity: 'error',
    message: 'Nobody would get the campaign now.',
    fix: `Look at GET /campaigns/:id/audience: ${describeLeftOut(type)}.`,
  }
}

async function checkSender(deps: Deps, campaign: FoundCampaign): Promise<MessageFinding[]> {
  const { projectId, fromDomain } = campaign
  const domain = await deps.directory.findSenderDomain(projectId, fromDomain)
  const name = displayDomain(fromDomain)
  if (domain === undefined) {
    return [
      {
        code: 'sender_unverified',
        severity: 'error',
        message: `The project may not send from ${name}: the domain is not verified.`,
        fix: 'Publish the DNS records of the domain and verify it, or choose another sender.',
      },
    ]
  }
  const isInbound = deps.config.inbound.listen.length > 0
  if (domain.isReturnPathFound || deps.config.delivery.mode === 'sandbox' || !isInbound) return []
  return [
    {
      code: 'sender_not_aligned',
      severity: 'warning',
      message: `Bounces of ${name} go to another domain, so SPF is not aligned with the sender.`,
      fix: `Publish the MX and TXT records of bounce.${name} that the domain's page lists.`,
    },
  ]
}

type Texts = { project: Project; campaign: FoundCampaign; recipients: readonly PreviewReader[] }

/**
 * Checks the texts for each recipient. A finding that occurs for several recipients is listed once.
 */
async function checkTexts(
  deps: Deps,
  { project, campaign, recipients }: Texts,
): Promise<MessageFinding[]> {
  const readers = recipients.length === 0 ? [NO_CONTACT] : recipients
  const data = parseData(undefined)
  const sources = readers.map((reader) =>
    toPreviewSource(deps, { project, text: campaign, reader, data }),
  )
  const rules = {
    baseUrl: deps.config.baseUrl,
    isSandbox: deps.config.delivery.mode === 'sandbox',
    isUnsubscribeLinkDue: campaign.type !== 'TRANSACTIONAL',
    hasFooter: campaign.type === 'MARKETING',
  }
  const found = new Map<string, MessageFinding>()
  for (const message of await deps.outbound.inspect(sources, rules)) {
    if (message === null) found.set('too_heavy', tooHeavy())
    else {
      for (const finding of [...message.faults.map(toFinding), ...message.findings]) {
        if (!found.has(finding.code)) found.set(finding.code, finding)
      }
    }
  }
  return [...found.values()]
}

function toFinding(fault: Parameters<typeof describePartFault>[0]): MessageFinding {
  return {
    code: 'template_fault',
    severity: 'warning',
    message: `${describePartFault(fault)}.`,
    fix: 'Correct the template: the campaign would be sent with the fault.',
  }
}

function tooHeavy(): MessageFinding {
  return {
    code: 'too_heavy',
    severity: 'error',
    message: 'The message takes too much time or memory to render.',
    fix: 'Simplify its loops and filters.',
  }
}
