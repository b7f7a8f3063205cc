/** `/app/projects/new`: a project of one's own. Its keys go to its first steps, which show them once. */
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { call } from '../../api/client.ts'
import { projects, reloadProjects } from '../../api/session.ts'
import { first as firstTexts } from '../../text/en/first.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { addTexts, t } from '../../text/text.ts'
import { TextField } from '../../ui/field.tsx'
import { FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { freshKeys } from '../../ui/fresh-keys.ts'
import { outer } from '../../ui/link.ts'
import { Page } from '../../ui/page.tsx'

addTexts(firstTexts, formTexts)

/** As the server has it. */
const MAX_NAME_LENGTH = 100

export default function NewProject() {
  const { route } = useLocation()
  // The project that is being made must not change the text.
  const [isFirst] = useState(projects.value.length === 0)
  const form = useForm(async ({ name = '' }) => {
    const made = await call('POST /users/@me/projects', { body: { name: name.trim() } })
    freshKeys.value = { projectId: made.id, secret: made.secret, public: made.public }
    await reloadProjects()
    route(outer(`/${made.id}`))
  })
  return (
    <Page title={t('project.new')} text={t(isFirst ? 'project.none' : 'project.text')}>
      <div class="body">
        <FormBox form={form} class="stack one-field">
          <TextField
            {...{ form, name: 'name', label: t('project.name'), hint: t('project.hint') }}
            required
            maxLength={MAX_NAME_LENGTH}
            autocomplete="off"
          />
          <FormFailure form={form} />
          <Submit form={form}>{t('project.create')}</Submit>
        </FormBox>
      </div>
    </Page>
  )
}
