/** The seeded segments of the big project: static, tracked and plain dynamic ones. */
import type Database from 'better-sqlite3'
import { newId } from '../../../src/store/ids.ts'
import type { Plan } from './plan.ts'
import type { Progress } from './progress.ts'
import type { ProjectIds } from './projects.ts'

type SegmentPlan = {
  name: string
  type: 'STATIC' | 'DYNAMIC'
  isTracked: boolean
  condition: object | null
  /** The same condition as SQL on a row of `contacts`. */
  members: string
}

const filters = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] })

/** The names by which benchmarks find the segments. */
export const segmentNames = { static: 'Pilot group', tracked: 'Business', plain: 'On Pro' } as const

const plans: readonly SegmentPlan[] = [
  {
    name: segmentNames.static,
    ...{ type: 'STATIC', isTracked: false, condition: null },
    members: 'number % 48 = 5',
  },
  {
    name: segmentNames.tracked,
    ...{ type: 'DYNAMIC', isTracked: true },
    condition: filters({ field: 'data.plan', operator: 'equals', value: 'business' }),
    members: `json_extract(data, '$.plan') = 'business'`,
  },
  {
    name: segmentNames.plain,
    ...{ type: 'DYNAMIC', isTracked: false },
    condition: filters({ field: 'data.plan', operator: 'equals', value: 'pro' }),
    members: `json_extract(data, '$.plan') = 'pro'`,
  },
  {
    name: 'Grown-up and subscribed',
    ...{ type: 'DYNAMIC', isTracked: false },
    condition: filters(
      { field: 'data.age', operator: 'greaterThanOrEqual', value: 40 },
      { field: 'subscribed', operator: 'equals', value: true },
    ),
    members: `json_extract(data, '$.age') >= 40 and subscribed = 1`,
  },
]

export function fillSegments(
  database: Database.Database,
  plan: Plan,
  { projects, progress }: { projects: ProjectIds; progress: Progress },
): void {
  progress.step('segments')
  const count = (members: string) =>
    database
      .prepare(`select count(*) from contacts where project_id = ? and ${members}`)
      .pluck()
      .get(projects.big) as number
  const addSegment = database.prepare(`insert into segments (id, project_id, name, type, condition,
    track_membership, member_count, counted_at, created_at, updated_at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  for (const { name, type, isTracked, condition, members } of plans) {
    const id = newId()
    const json = condition === null ? null : JSON.stringify(condition)
    const { at } = plan
    const times = [at, at, at]
    addSegment.run(id, projects.big, name, type, json, isTracked ? 1 : 0, count(members), ...times)
    if (type === 'DYNAMIC' && !isTracked) continue
    database
      .prepare(
        `insert into segment_members (segment_id, contact_id, entered_at, created_at, updated_at)
          select ?, id, ?, ?, ? from contacts where project_id = ? and ${members} order by id`,
      )
      .run(id, ...times, projects.big)
  }
}
