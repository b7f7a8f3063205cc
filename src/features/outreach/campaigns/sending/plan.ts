/**
 * The plan of a campaign: the facts that all of its emails share, read when its expansion begins or
 * goes on.
 */
import { AppError } from '../../../../base/errors.ts'
import { keysNamedIn, type NamesKey } from '../../../../formats/template/named-keys.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { PauseReason } from '../../../../store/schema/words.ts'
import type { Base } from '../../../ground/base.ts'
import type { ContactScope } from '../../../people/contacts/list/scope.ts'
import { audienceScope } from '../audience/scope.ts'
import { type FoundCampaign, loadCampaign } from '../campaign.ts'
import type { ActiveCampaign } from './active.ts'

export type SendingPlan = {
  campaign: FoundCampaign
  project: Project
  scope: ContactScope
  /** The domain of Message-IDs. */
  senderDomain: string
  /** Whether unsubscribed contacts get the campaign. */
  isForAll: boolean
  isTracked: boolean
  sourceType: 'CAMPAIGN' | 'TRANSACTIONAL'
  /** Decides which keys of a contact's data are stored with the email. */
  isKept: NamesKey
}

/** Why a campaign cannot go on until somebody does something. */
type CampaignTrouble = { trouble: PauseReason; campaign: FoundCampaign }

type Deps = Pick<Base, 'store' | 'directory' | 'now'>

/**
 * `isKept`: that of an earlier plan, if there is one. The text of a campaign that sends does not
 * change, and parsing the text takes up to 50 ms.
 * @throws AppError CAMPAIGN_NOT_FOUND, DATABASE_ERROR
 */
export async function planSending(
  deps: Deps,
  { projectId, id }: Pick<ActiveCampaign, 'projectId' | 'id'>,
  isKept?: NamesKey,
): Promise<SendingPlan | CampaignTrouble> {
  const campaign = await loadCampaign(deps.store.read, { projectId, id })
  const project = await deps.directory.findProject(projectId)
  if (project === undefined || project.isDisabled) return { trouble: 'project_disabled', campaign }
  const domain = await deps.directory.findSenderDomain(projectId, campaign.fromDomain)
  if (domain === undefined) return { trouble: 'domain_unverified', campaign }
  const scope = await findScope(deps, campaign)
  if ('trouble' in scope) return scope
  const isForAll = campaign.type === 'TRANSACTIONAL'
  const { tracking } = project
  return {
    campaign,
    project,
    scope,
    isForAll,
    senderDomain: domain.domain,
    isTracked: tracking === 'ENABLED' || (tracking === 'MARKETING_ONLY' && !isForAll),
    sourceType: isForAll ? 'TRANSACTIONAL' : 'CAMPAIGN',
    isKept: isKept ?? keysKeptBy(campaign),
  }
}

function keysKeptBy({ subject, body }: FoundCampaign): NamesKey {
  const isNamed = keysNamedIn([subject, body])
  return (key) => key === 'locale' || isNamed(key)
}

async function findScope(
  deps: Deps,
  campaign: FoundCampaign,
): Promise<ContactScope | CampaignTrouble> {
  if (campaign.audienceType === 'SEGMENT' && campaign.segment === null) {
    return { trouble: 'segment_missing', campaign }
  }
  try {
    return await audienceScope(deps, campaign)
  } catch (error) {
    if (error instanceof AppError && error.code === 'BAD_REQUEST') {
      return { trouble: 'condition_invalid', campaign }
    }
    throw error
  }
}
