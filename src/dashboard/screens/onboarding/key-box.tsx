/** Two new keys to copy. */
import { t } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import type { NewKeyPair } from '../../ui/fresh-keys.ts'

export function KeyBox({ keys, onKept }: { keys: NewKeyPair; onKept(): void }) {
  return (
    <div class="stack grow">
      <p>{t('first.newKey.once')}</p>
      {(['secret', 'public'] as const).map((kind) => (
        <div key={kind}>
          <p class="small strong">{t(`first.newKey.${kind}`)}</p>
          <div class="fix">
            <code class="code wrap">{keys[kind]}</code>
            <Copy text={keys[kind]} isIcon />
          </div>
        </div>
      ))}
      <p>
        <button class="btn" type="button" onClick={onKept}>
          {t('first.newKey.done')}
        </button>
      </p>
    </div>
  )
}
