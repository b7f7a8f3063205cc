/** Lists a project's campaigns by page number. They are read slice by slice, as their reader takes them. */

import { invalidField, tooLongText } from '../../errors.ts'
import { containsText, octets } from '../../store/dialect.ts'
import {
  and,
  asc,
  count,
  desc,
  eq,
  isNotNull,
  isNull,
  or,
  type SQL,
  sql,
} from '../../store/drizzle.ts'
import { campaigns } from '../../store/schema/campaigns.ts'
import type { CampaignStatus } from '../../store/schema/words.ts'
import type { Base } from '../base.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_SEARCH_LENGTH } from '../limits.ts'
import { type Listing, wholeListing } from '../listing.ts'
import { findCampaign } from './find.ts'
import { campaignShower, type ShownCampaign } from './limit-end.ts'

export type CampaignQuery = {
  projectId: string
  /** Counts from 1, which is the default. */
  page?: number | undefined
  /** 20 if absent, at most 100. */
  pageSize?: number | undefined
  status?: CampaignStatus | undefined
  /** Part of the name, the subject or the sender's address; letter case is ignored. */
  search?: string | undefined
  /** Only archived campaigns; otherwise only the others. */
  isArchived?: boolean | undefined
  sort?: keyof typeof SORT_KEYS | undefined
  dir?: 'asc' | 'desc' | undefined
}

type CampaignPage = {
  listing: Listing<ShownCampaign, object>
  /** The number of campaigns on all pages. */
  total: number
  /** The number of archived campaigns of the project. */
  archivedCount: number
}

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'now'>

const SORT_KEYS = {
  name: sql`lower(${campaigns.name})`,
  createdAt: sql`${campaigns.createdAt}`,
  updatedAt: sql`${campaigns.updatedAt}`,
}

/** @throws AppError VALIDATION_ERROR for a search that is too long */
export async function listCampaigns(deps: Deps, query: CampaignQuery): Promise<CampaignPage> {
  const { scan } = deps.store
  const { projectId } = query
  const isArchived = and(eq(campaigns.projectId, projectId), isNotNull(campaigns.archivedAt))
  const [lines, total, archivedCount] = await Promise.all([
    findLines(deps, query),
    countCampaigns(scan, matches(query)),
    countCampaigns(scan, isArchived),
  ])
  const show = campaignShower(deps, projectId)
  const listing = wholeListing({
    lines,
    bytesOf: ({ bytes }) => bytes,
    async read(slice) {
      const shown: (ShownCampaign | undefined)[] = []
      for (const { id } of slice) {
        const campaign = await findCampaign(deps.store.read, { projectId, id })
        shown.push(campaign && (await show(campaign)))
      }
      return shown
    },
  })
  return { listing, total, archivedCount }
}

type Line = { id: string; bytes: number }

/** Sizes come from the heads of rows; the bodies themselves are not read. */
function findLines({ store }: Deps, query: CampaignQuery): Promise<Line[]> {
  const { page = 1, sort = 'createdAt', dir = 'desc' } = query
  const pageSize = Math.min(query.pageSize ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
  const by = dir === 'asc' ? asc : desc
  return store.scan
    .select({ id: campaigns.id, bytes: sql<number>`${octets(campaigns.body)}` })
    .from(campaigns)
    .where(matches(query))
    .orderBy(by(SORT_KEYS[sort]), by(campaigns.id))
    .limit(pageSize)
    .offset((page - 1) * pageSize)
}

async function countCampaigns(scan: Deps['store']['scan'], condition: SQL | undefined) {
  const [counted] = await scan.select({ total: count() }).from(campaigns).where(condition)
  return counted?.total ?? 0
}

function matches({ projectId, status, isArchived, search = '' }: CampaignQuery): SQL | undefined {
  const part = search.trim()
  if (part.length > MAX_SEARCH_LENGTH) {
    throw invalidField('search', 'too_big', tooLongText(MAX_SEARCH_LENGTH))
  }
  const columns = [campaigns.name, campaigns.subject, campaigns.fromAddress]
  return and(
    eq(campaigns.projectId, projectId),
    isArchived ? isNotNull(campaigns.archivedAt) : isNull(campaigns.archivedAt),
    status === undefined ? undefined : eq(campaigns.status, status),
    part === '' ? undefined : or(...columns.map((column) => containsText(column, part))),
  )
}
