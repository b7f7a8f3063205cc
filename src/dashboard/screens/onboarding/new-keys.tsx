/** The dialog for new keys: what will happen, and then the keys, once. */
import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { type Project, reloadProjects } from '../../api/session.ts'
import { relativeTime } from '../../logic/format.ts'
import { locale, t } from '../../text/text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { FormBox, FormFailure, Submit, useForm } from '../../ui/form.tsx'
import type { NewKeyPair } from '../../ui/fresh-keys.ts'
import { KeyBox } from './key-box.tsx'

type NewKeysProps = { project: Project; onClose(): void }

export function NewKeys({ project, onClose }: NewKeysProps) {
  const { id, name, secretLastUsedAt } = project
  const [keys, setKeys] = useState<NewKeyPair>()
  const form = useForm(async () => {
    const made = await call('POST /users/@me/projects/{id}/regenerate-keys', { params: { id } })
    setKeys({ projectId: id, secret: made.secret, public: made.public })
    await reloadProjects()
  })
  return (
    <Dialog
      title={t('first.newKey.title', { project: name })}
      onClose={onClose}
      isFirm={keys !== undefined || form.isRunning}
    >
      {keys === undefined ? (
        <FormBox form={form}>
          <p>{t('first.newKey.text')}</p>
          <p>
            {secretLastUsedAt === null
              ? t('first.newKey.unused')
              : t('first.newKey.used', {
                  time: relativeTime(secretLastUsedAt, new Date(), locale()),
                })}
          </p>
          <FormFailure form={form} />
          <p class="row">
            <Submit form={form} class="danger">
              {t('first.newKey.make')}
            </Submit>
            <button class="btn" type="button" onClick={onClose}>
              {t('first.newKey.keep')}
            </button>
          </p>
        </FormBox>
      ) : (
        <KeyBox keys={keys} takesFocus onKept={onClose} />
      )}
    </Dialog>
  )
}
