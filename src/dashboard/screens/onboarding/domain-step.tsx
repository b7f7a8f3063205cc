/** The step of a project without a verified domain: the domain, and the records to publish. */
import { hasRole, project } from '../../api/session.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { setup as setupTexts } from '../../text/en/setup.ts'
import { addTexts, t } from '../../text/text.ts'
import { Domains } from '../setup/project-step.tsx'

addTexts(formTexts, setupTexts)

export default function DomainStep() {
  return (
    <li class="next">
      <p>
        <b>{t('first.domain')}</b>
      </p>
      <p class="small muted">{t('first.domain.text')}</p>
      <div class="step">
        {hasRole('ADMIN') ? (
          <Domains projectId={project.value?.id ?? ''} />
        ) : (
          <p class="note">{t('role.needed', { role: t('role.ADMIN') })}</p>
        )}
      </div>
    </li>
  )
}
