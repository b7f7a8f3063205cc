/** The project of the screen, for what the screen says of it and does in it. */
import { useProjectId } from '../api/queries.ts'
import { type Project, projectWith } from '../api/session.ts'

/** As it is now; undefined outside of projects. */
export function useProject(): Project | undefined {
  return projectWith(useProjectId())
}
