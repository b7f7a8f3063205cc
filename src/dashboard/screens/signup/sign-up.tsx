/** `/app/signup`: a new account, where the server allows it. */
import { call } from '../../api/client.ts'
import { config, needsSetUp, signedIn, user } from '../../api/session.ts'
import { door as doorTexts } from '../../text/en/door.ts'
import { form as formTexts } from '../../text/en/form.ts'
import { addTexts, locale, t } from '../../text/text.ts'
import { Door } from '../../ui/door.tsx'
import { TextField } from '../../ui/field.tsx'
import { FieldRefusal, FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { Leave } from '../../ui/leave.tsx'
import { hostName, outer } from '../../ui/link.ts'

addTexts(doorTexts, formTexts)

/** As the server has it. */
const MIN_PASSWORD_LENGTH = 6

export default function SignUp() {
  if (needsSetUp.value) return <Leave to={outer('/setup')} />
  if (user.value !== undefined) return <Leave to={outer('')} />
  const isOpen = config.value?.features.signup.signupsDisabled === false
  return (
    <Door title={t('door.makeAccount')} host={hostName()}>
      {isOpen ? <SignUpForm /> : <p>{t('door.closed')}</p>}
      <p class="small muted">
        {t('door.haveAccount')} <a href={outer('/login')}>{t('door.signIn')}</a>
      </p>
    </Door>
  )
}

function SignUpForm() {
  const form = useForm(async ({ email = '', password = '' }) => {
    // The account gets the language of the page, and not that of the browser.
    const answer = await call('POST /auth/signup', {
      body: { email, password },
      headers: { 'Accept-Language': locale() },
    })
    if (answer.success) return signedIn()
    throw new FieldRefusal('email', answer.data, { isForeign: true })
  })
  return (
    <FormBox form={form}>
      <TextField
        {...{ form, name: 'email', label: t('door.address'), type: 'email', required: true }}
        autocomplete="username"
        hint={t('door.address.hint')}
      />
      <TextField
        {...{ form, name: 'password', label: t('door.password'), type: 'password' }}
        required
        minLength={MIN_PASSWORD_LENGTH}
        autocomplete="new-password"
        hint={t('form.short', { count: MIN_PASSWORD_LENGTH })}
      />
      <FormFailure form={form} />
      <Submit form={form} class="main fill">
        {t('door.makeAccount')}
      </Submit>
    </FormBox>
  )
}
