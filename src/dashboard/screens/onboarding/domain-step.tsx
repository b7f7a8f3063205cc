/** The step of a project without a verified domain: the domain, and the records to publish. */
import type { Project } from '../../api/session.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { setup as setupTexts } from '../../text/en/setup.ts'
import { addTexts, t } from '../../text/text.ts'
import { whyNot } from '../../ui/why-not.ts'
import { Domains } from '../setup/project-step.tsx'

addTexts(formTexts, setupTexts)

export default function DomainStep({ project }: { project: Project }) {
  const obstacle = whyNot(project, 'ADMIN')
  return (
    <li class="next">
      <p>
        <b>{t('first.domain')}</b>
      </p>
      <p class="small muted">{t('first.domain.text')}</p>
      <div class="step">
        {obstacle === undefined ? <Domains project={project.id} /> : <p class="note">{obstacle}</p>}
      </div>
    </li>
  )
}
