/** Shows campaigns: one, or a page of the list by number or by cursor. */
import { formatOptionalInstant } from '../../../base/clock.ts'
import { invalidField, tooLongText } from '../../../base/errors.ts'
import type { ShownCampaign } from '../../../records/campaign.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_SEARCH_LENGTH } from '../../../records/limits.ts'
import { containsText, octets } from '../../../store/dialect.ts'
import { and, count, eq, isNotNull, isNull, or, type SQL, sql } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import type { CampaignStatus } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import { type Listing, type PageEnd, pageListing } from '../../ground/listing.ts'
import {
  clausesOf,
  formatSortedCursor,
  parseSortedCursor,
  type SortedPlace,
} from '../../ground/sorted-cursor.ts'
import { findNextAllowance } from '../../mail/messages/accept/new-project-cap.ts'
import {
  type CampaignKey,
  type FoundCampaign,
  findCampaign,
  loadCampaign,
  toCampaignRecord,
} from './campaign.ts'

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'now'>

type CampaignQuery = {
  projectId: string
  /** The number of the page, 1 by default; not together with a cursor. */
  page?: number | undefined
  /** The cursor of an earlier page, or the id of its last campaign. */
  cursor?: string | undefined
  /** The campaigns of a page: 20 by default, at most 100. */
  pageSize?: number | undefined
  status?: CampaignStatus | undefined
  /**
   * A part of the name, the subject or the sender's address of a campaign; letter case is ignored.
   */
  search?: string | undefined
  /** true: only archived campaigns; otherwise only campaigns that are not archived. */
  isArchived?: boolean | undefined
  sort?: keyof typeof SORT_KEYS | undefined
  dir?: 'asc' | 'desc' | undefined
}

type CampaignPage = {
  listing: Listing<ShownCampaign, PageEnd>
  /** The number of the page. */
  page: number
  /** The number of campaigns on all pages. */
  total: number
  /** The number of archived campaigns of the project. */
  archivedCount: number
}

type ListDeps = Pick<Base, 'store' | 'config' | 'directory' | 'keyring' | 'now'>

const SORT_KEYS = {
  name: sql`lower(${campaigns.name})`,
  createdAt: sql`${campaigns.createdAt}`,
  updatedAt: sql`${campaigns.updatedAt}`,
} satisfies Record<string, SQL>

type CampaignLine = { id: string; bytes: number; sortKey: string | number }

type Ordered = CampaignQuery & Required<Pick<CampaignQuery, 'sort' | 'dir'>>

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function loadShownCampaign(deps: Deps, key: CampaignKey): Promise<ShownCampaign> {
  const campaign = await loadCampaign(deps.store.read, key)
  return campaignShower(deps, key.projectId)(campaign)
}

/**
 * Returns a page of a project's campaigns. The listing reads them slice by slice, as its reader takes them.
 * @throws AppError VALIDATION_ERROR for a search that is too long and for an unknown cursor
 */
export async function listCampaigns(deps: ListDeps, query: CampaignQuery): Promise<CampaignPage> {
  const { scan } = deps.store
  const { projectId } = query
  const isArchived = and(eq(campaigns.projectId, projectId), isNotNull(campaigns.archivedAt))
  const { sort = 'createdAt', dir = 'desc' } = query
  const pageSize = Math.min(query.pageSize ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
  const place = await findPlace(deps, { ...query, sort, dir })
  const page = place === undefined ? (query.page ?? 1) : place.page + 1
  const [found, total, archivedCount] = await Promise.all([
    findLines(deps, { ...query, sort, dir, page, pageSize }, place),
    countCampaigns(scan, matches(query)),
    countCampaigns(scan, isArchived),
  ])
  const show = campaignShower(deps, projectId)
  const lines = found.slice(0, pageSize)
  const last = found.length > pageSize ? lines.at(-1) : undefined
  const cursorOf = ({ id, sortKey }: CampaignLine) =>
    formatSortedCursor(deps, 'campaigns', { sort, dir, sortKey, id, page })
  const listing = pageListing({
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
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
  })
  return { listing, page, total, archivedCount }
}

/**
 * Returns a function that shows campaigns of the project as of now. `limitedUntil` tells until when
 * a campaign waits because its project is new (`limits.new_project_daily`); for this, the function
 * counts the emails of the project once at most.
 */
function campaignShower(
  deps: Deps,
  projectId: string,
): (campaign: FoundCampaign) => Promise<ShownCampaign> {
  const at = deps.now()
  let limitEnd: Promise<string | null> | undefined

  async function findLimitEnd(): Promise<string | null> {
    const project = await deps.directory.findProject(projectId)
    if (project === undefined) return null
    return formatOptionalInstant(await findNextAllowance(deps, deps.store.read, { project, at }))
  }

  return async (campaign) => {
    const view = toCampaignRecord(campaign, at)
    if (!mayWait(campaign)) return { ...view, limitedUntil: null }
    limitEnd ??= findLimitEnd()
    return { ...view, limitedUntil: await limitEnd }
  }
}

function mayWait({ status, pausedAt, progress }: FoundCampaign): boolean {
  const isMade = progress === null || progress.expandedAt !== null
  return status === 'SENDING' && pausedAt === null && !isMade
}

function findPlace(deps: ListDeps, { projectId, sort, dir, cursor }: Ordered) {
  if (cursor === undefined) return undefined
  const findSortKey = async (id: string) => {
    const isIt = and(eq(campaigns.id, id), eq(campaigns.projectId, projectId))
    const sortKey = sql<string | number>`${SORT_KEYS[sort]}`
    const row = await deps.store.read.select({ sortKey }).from(campaigns).where(isIt).get()
    return row?.sortKey
  }
  return parseSortedCursor(deps, 'campaigns', { sort, dir, cursor, findSortKey })
}

/**
 * Finds the lines of a page and one more. The sizes of bodies are known from the heads of the rows,
 * so the bodies themselves are not read.
 */
function findLines(
  { store }: ListDeps,
  query: Ordered & { page: number; pageSize: number },
  place: SortedPlace | undefined,
): Promise<CampaignLine[]> {
  const key = sql<string | number>`${SORT_KEYS[query.sort]}`
  const id = sql`${campaigns.id}`
  const { isAfter, order, limit, offset } = clausesOf({ ...query, key, id, place })
  return store.scan
    .select({ id: campaigns.id, bytes: sql<number>`${octets(campaigns.body)}`, sortKey: key })
    .from(campaigns)
    .where(and(matches(query), isAfter))
    .orderBy(...order)
    .limit(limit)
    .offset(offset)
}

async function countCampaigns(scan: ListDeps['store']['scan'], condition: SQL | undefined) {
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
