/** `/app/forgot`: asks for a mail with a link to choose a new password. The answer tells nobody who has an account. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { needsSetUp } from '../../api/session.ts'
import { door as doorTexts } from '../../text/en/door.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { addTexts, t, tx } from '../../text/text.ts'
import { Door } from '../../ui/door.tsx'
import { TextField } from '../../ui/field.tsx'
import { FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { Leave } from '../../ui/leave.tsx'
import { hostName, outer } from '../../ui/link.ts'

addTexts(doorTexts, formTexts)

export default function Forgot() {
  const [address, setAddress] = useState<string>()
  const form = useForm(async ({ email = '' }) => {
    await call('POST /auth/request-password-reset', { body: { email } })
    setAddress(email)
  })
  if (needsSetUp.value) return <Leave to={outer('/setup')} />
  const isSent = address !== undefined
  return (
    <Door title={isSent ? t('door.forgot.sent') : t('door.forgot')} host={hostName()}>
      {isSent ? (
        <>
          <p role="status">{tx('door.forgot.sent.text', { email: <b>{address}</b> })}</p>
          <p class="small muted">{t('door.forgot.none')}</p>
        </>
      ) : (
        <FormBox form={form}>
          <TextField
            {...{ form, name: 'email', label: t('door.address'), type: 'email', required: true }}
            autocomplete="username"
            hint={t('door.forgot.hint')}
          />
          <FormFailure form={form} />
          <Submit form={form} class="main fill">
            {t('door.forgot.send')}
          </Submit>
        </FormBox>
      )}
      <p class="small">
        <a href={outer('/login')}>{t('door.toSignIn')}</a>
      </p>
    </Door>
  )
}
