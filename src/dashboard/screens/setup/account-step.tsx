/** The first step of the set-up: the first user, who is an operator. */
import { ApiFailure, call } from '../../api/client.ts'
import { signedIn } from '../../api/session.ts'
import { rememberStep } from '../../api/set-up-progress.ts'
import { setupToken } from '../../api/setup-token.ts'
import { locale, t } from '../../text/text.ts'
import { TextField } from '../../ui/field.tsx'
import { FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'

const MIN_PASSWORD_LENGTH = 6

export function AccountStep({ token }: { token: string }) {
  const form = useForm(async ({ email = '', password = '' }) => {
    // The account gets the language of the page, and not that of the browser.
    await call('POST /setup', {
      body: { token, email, password },
      headers: { 'Accept-Language': locale() },
    })
    rememberStep('server')
    await signedIn()
    setupToken.value = undefined
  })
  const refusal = refusalOf(form.failure)
  return (
    <FormBox form={form}>
      <p>{t('setup.account.text')}</p>
      <TextField
        {...{ form, name: 'email', label: t('door.address'), type: 'email', required: true }}
        autocomplete="username"
      />
      <TextField
        {...{ form, name: 'password', label: t('door.password'), type: 'password' }}
        required
        minLength={MIN_PASSWORD_LENGTH}
        autocomplete="new-password"
        hint={t('form.short', { count: MIN_PASSWORD_LENGTH })}
      />
      {refusal === undefined ? (
        <FormFailure form={form} />
      ) : (
        <p class="note bad" role="alert">
          {refusal}
        </p>
      )}
      <Submit form={form} class="main fill">
        {t('setup.account.make')}
      </Submit>
    </FormBox>
  )
}

/** Two refusals are no faults of the person: the link is no longer good, or others could read the password. */
function refusalOf(failure: unknown): string | undefined {
  if (!(failure instanceof ApiFailure)) return undefined
  if (failure.status === 404) return t('setup.account.gone')
  return failure.status === 403 ? t('setup.account.plain') : undefined
}
