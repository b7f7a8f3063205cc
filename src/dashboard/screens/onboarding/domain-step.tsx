/** The step of a project without a verified domain: the domain, and the records to publish. */
import { hasRole, type Project } from '../../api/session.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { setup as setupTexts } from '../../text/en/setup.ts'
import { addTexts, t } from '../../text/text.ts'
import { Domains } from '../setup/project-step.tsx'

addTexts(formTexts, setupTexts)

export default function DomainStep({ project }: { project: Project }) {
  return (
    <li class="next">
      <p>
        <b>{t('first.domain')}</b>
      </p>
      <p class="small muted">{t('first.domain.text')}</p>
      <div class="step">
        {hasRole('ADMIN', project) ? (
          <Domains project={project.id} />
        ) : (
          <p class="note">{t('role.needed', { role: t('role.ADMIN') })}</p>
        )}
      </div>
    </li>
  )
}
