/** A new password. All other sessions end with it. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { queryClient } from '../../api/queries.ts'
import { user } from '../../api/session.ts'
import { t } from '../../text/text.ts'
import { TextField } from '../../ui/field.tsx'
import { FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import { SESSIONS } from './sessions.tsx'

const MIN_LENGTH = 6

export function PasswordSection({ email }: { email: string }) {
  // A new key empties the fields after a change.
  const [changes, setChanges] = useState(0)
  return (
    <section class="section">
      <h2>{t('account.password')}</h2>
      <PasswordForm key={changes} email={email} onDone={() => setChanges(changes + 1)} />
      <p class="small t-good" role="status">
        {changes > 0 && t('account.password.changed')}
      </p>
    </section>
  )
}

function PasswordForm({ email, onDone }: { email: string; onDone(): void }) {
  const form = useForm(
    async ({ currentPassword = '', newPassword = '' }) => {
      const { warnings: _, ...changed } = await call('PATCH /users/@me', {
        body: { currentPassword, newPassword },
      })
      user.value = changed
      void queryClient.invalidateQueries({ queryKey: [SESSIONS] })
      onDone()
    },
    { words: { 'currentPassword.custom': 'account.password.wrong' } },
  )
  return (
    <FormBox form={form} class="stack short-form">
      {/* Password managers store the new password with the address. */}
      <input type="email" autocomplete="username" value={email} readonly hidden />
      <TextField
        {...{ form, name: 'currentPassword', label: t('account.password.current') }}
        {...{ type: 'password', required: true }}
        autocomplete="current-password"
      />
      <TextField
        {...{ form, name: 'newPassword', label: t('account.password.new') }}
        {...{ type: 'password', required: true, minLength: MIN_LENGTH }}
        autocomplete="new-password"
        hint={t('account.password.hint')}
      />
      <FormFailure form={form} />
      <Submit form={form} class="">
        {t('account.password.change')}
      </Submit>
    </FormBox>
  )
}
