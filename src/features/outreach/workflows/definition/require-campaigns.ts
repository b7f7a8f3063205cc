/** The campaigns that the CONDITIONs of a workflow ask for. */

import { AppError } from '../../../../base/errors.ts'
import { and, eq, inArray } from '../../../../store/drizzle.ts'
import { campaigns } from '../../../../store/schema/campaigns.ts'
import type { Queries } from '../../../../store/write/transaction.ts'
import type { ConditionConfig } from '../graph/step-config.ts'
import type { StepRow } from './step-rows.ts'

type Configured = Pick<StepRow, 'type' | 'config'>

/** `before`: the step as it was; `path`: the field of the config. */
type Edited = { step: Configured; before?: Configured | undefined; path: string }

/**
 * Requires that the campaigns of the steps exist. One that a step had before may have been deleted.
 * @throws AppError BAD_REQUEST
 */
export async function requireCampaigns(
  queries: Queries,
  projectId: string,
  edited: readonly Edited[],
): Promise<void> {
  const others = edited.filter(
    ({ step, before }) => before === undefined || campaignOf(before) !== campaignOf(step),
  )
  const steps = others.map(({ step }) => step)
  const known = await listCampaignsOf(queries, projectId, steps)
  for (const { step, path } of others) {
    const id = campaignOf(step)
    if (id === undefined || known.has(id)) continue
    const message = 'The condition refers to a campaign that this project does not have.'
    throw new AppError('BAD_REQUEST', message, {
      fields: [{ field: `${path}.campaignId`, code: 'custom', message: 'No such campaign' }],
      details: { resource: 'campaign', id },
    })
  }
}

/** The ids of the campaigns of the steps that exist. */
export async function listCampaignsOf(
  queries: Queries,
  projectId: string,
  steps: readonly Configured[],
): Promise<Set<string>> {
  const ids = [...new Set(steps.flatMap((step) => campaignOf(step) ?? []))]
  if (ids.length === 0) return new Set()
  const isOurs = and(eq(campaigns.projectId, projectId), inArray(campaigns.id, ids))
  const rows = await queries.select({ id: campaigns.id }).from(campaigns).where(isOurs)
  return new Set(rows.map(({ id }) => id))
}

function campaignOf({ type, config }: Configured): string | undefined {
  return type === 'CONDITION' ? (config as ConditionConfig).campaignId : undefined
}
