/** Why a control is off. */
import { hasRole, type Project } from '../api/session.ts'
import { t } from '../text/text.ts'

/** Why the user may not change something of the project that needs this role; undefined if they may. */
export function whyNot(
  project: Project | undefined,
  needed: Project['role'] = 'MEMBER',
): string | undefined {
  if (project?.disabled === true) return t('role.disabled')
  const isAllowed = project === undefined || hasRole(needed, project)
  return isAllowed ? undefined : t('role.needed', { role: t(`role.${needed}`) })
}
