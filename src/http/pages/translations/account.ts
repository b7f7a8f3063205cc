/** The texts of the pages that mail to users links to, in each language. */
import type { Language } from '../../../formats/languages.ts'

export type AccountTexts = {
  verify: { title: string; ask: string; button: string }
  verified: { title: string; text: string }
  /** `rule`: the length of a password, as a hint and as an error. */
  reset: { title: string; label: string; rule: string; button: string }
  changed: { title: string; text: string }
  /** For a link that is unknown, used or too old. */
  expired: { title: string; text: string }
}

export const ACCOUNT_TRANSLATIONS: Readonly<Record<Language, AccountTexts>> = {
  en: {
    verify: {
      title: 'Confirm your address',
      ask: 'Press the button to confirm that this email address is yours.',
      button: 'Confirm address',
    },
    verified: {
      title: 'Your address is confirmed',
      text: 'Your account is ready to use. You can close this page.',
    },
    reset: {
      title: 'Choose a new password',
      label: 'New password',
      rule: 'Between 6 and 1,000 characters.',
      button: 'Save password',
    },
    changed: {
      title: 'Your password is changed',
      text: 'You were logged out everywhere. Log in with the new password.',
    },
    expired: {
      title: 'This link is no longer valid',
      text: 'It was used already, or it is more than an hour old. Please ask for a new mail.',
    },
  },
  nl: {
    verify: {
      title: 'Bevestig je adres',
      ask: 'Druk op de knop om te bevestigen dat dit e-mailadres van jou is.',
      button: 'Adres bevestigen',
    },
    verified: {
      title: 'Je adres is bevestigd',
      text: 'Je account is klaar voor gebruik. Je kunt deze pagina sluiten.',
    },
    reset: {
      title: 'Kies een nieuw wachtwoord',
      label: 'Nieuw wachtwoord',
      rule: 'Tussen 6 en 1000 tekens.',
      button: 'Wachtwoord opslaan',
    },
    changed: {
      title: 'Je wachtwoord is gewijzigd',
      text: 'Je bent overal uitgelogd. Log in met het nieuwe wachtwoord.',
    },
    expired: {
      title: 'Deze link is niet meer geldig',
      text: 'De link is al gebruikt of is meer dan een uur oud. Vraag een nieuwe e-mail aan.',
    },
  },
  fr: {
    verify: {
      title: 'Confirmez votre adresse',
      ask: 'Appuyez sur le bouton pour confirmer que cette adresse e-mail est la vôtre.',
      button: 'Confirmer l’adresse',
    },
    verified: {
      title: 'Votre adresse est confirmée',
      text: 'Votre compte est prêt. Vous pouvez fermer cette page.',
    },
    reset: {
      title: 'Choisissez un nouveau mot de passe',
      label: 'Nouveau mot de passe',
      rule: 'Entre 6 et 1 000 caractères.',
      button: 'Enregistrer',
    },
    changed: {
      title: 'Votre mot de passe est modifié',
      text: 'Vos sessions ont été fermées partout. Connectez-vous avec le nouveau mot de passe.',
    },
    expired: {
      title: 'Ce lien n’est plus valable',
      text: 'Il a déjà servi ou date de plus d’une heure. Veuillez demander un nouvel e-mail.',
    },
  },
  hi: {
    verify: {
      title: 'अपने पते की पुष्टि करें',
      ask: 'यह ईमेल पता आपका है, इसकी पुष्टि करने के लिए बटन दबाएँ।',
      button: 'पते की पुष्टि करें',
    },
    verified: {
      title: 'आपके पते की पुष्टि हो गई है',
      text: 'आपका खाता उपयोग के लिए तैयार है। आप यह पेज बंद कर सकते हैं।',
    },
    reset: {
      title: 'नया पासवर्ड चुनें',
      label: 'नया पासवर्ड',
      rule: '6 से 1,000 अक्षरों के बीच।',
      button: 'पासवर्ड सहेजें',
    },
    changed: {
      title: 'आपका पासवर्ड बदल गया है',
      text: 'आपको हर जगह से लॉग आउट कर दिया गया है। नए पासवर्ड से लॉग इन करें।',
    },
    expired: {
      title: 'यह लिंक अब मान्य नहीं है',
      text: 'इसका उपयोग हो चुका है, या यह एक घंटे से अधिक पुराना है। कृपया नया ईमेल मँगाएँ।',
    },
  },
  de: {
    verify: {
      title: 'Adresse bestätigen',
      ask: 'Bestätigen Sie mit der Schaltfläche, dass diese E-Mail-Adresse Ihnen gehört.',
      button: 'Adresse bestätigen',
    },
    verified: {
      title: 'Ihre Adresse ist bestätigt',
      text: 'Ihr Konto kann verwendet werden. Sie können diese Seite schließen.',
    },
    reset: {
      title: 'Neues Passwort wählen',
      label: 'Neues Passwort',
      rule: 'Zwischen 6 und 1.000 Zeichen.',
      button: 'Passwort speichern',
    },
    changed: {
      title: 'Ihr Passwort ist geändert',
      text: 'Sie wurden überall abgemeldet. Melden Sie sich mit dem neuen Passwort an.',
    },
    expired: {
      title: 'Dieser Link ist nicht mehr gültig',
      text: 'Er wurde schon verwendet oder ist älter als eine Stunde. Bitte fordern Sie eine neue E-Mail an.',
    },
  },
  pt: {
    verify: {
      title: 'Confirme o seu endereço',
      ask: 'Pressione o botão para confirmar que este endereço de e-mail é seu.',
      button: 'Confirmar endereço',
    },
    verified: {
      title: 'O seu endereço está confirmado',
      text: 'A sua conta está pronta para uso. Você pode fechar esta página.',
    },
    reset: {
      title: 'Escolha uma nova senha',
      label: 'Nova senha',
      rule: 'Entre 6 e 1.000 caracteres.',
      button: 'Salvar senha',
    },
    changed: {
      title: 'A sua senha foi alterada',
      text: 'Todas as suas sessões foram encerradas. Entre com a nova senha.',
    },
    expired: {
      title: 'Este link não é mais válido',
      text: 'Ele já foi usado ou tem mais de uma hora. Peça um novo e-mail.',
    },
  },
  bg: {
    verify: {
      title: 'Потвърдете адреса си',
      ask: 'Натиснете бутона, за да потвърдите, че този имейл адрес е ваш.',
      button: 'Потвърждаване',
    },
    verified: {
      title: 'Адресът ви е потвърден',
      text: 'Профилът ви е готов за използване. Можете да затворите тази страница.',
    },
    reset: {
      title: 'Изберете нова парола',
      label: 'Нова парола',
      rule: 'Между 6 и 1000 знака.',
      button: 'Запазване на паролата',
    },
    changed: {
      title: 'Паролата ви е сменена',
      text: 'Излязохте от профила си навсякъде. Влезте с новата парола.',
    },
    expired: {
      title: 'Тази връзка вече не е валидна',
      text: 'Тя вече е използвана или е отпреди повече от час. Моля, поискайте нов имейл.',
    },
  },
  cs: {
    verify: {
      title: 'Potvrďte svou adresu',
      ask: 'Stisknutím tlačítka potvrďte, že tato e-mailová adresa patří vám.',
      button: 'Potvrdit adresu',
    },
    verified: {
      title: 'Vaše adresa je potvrzena',
      text: 'Váš účet je připraven k použití. Tuto stránku můžete zavřít.',
    },
    reset: {
      title: 'Zvolte si nové heslo',
      label: 'Nové heslo',
      rule: '6 až 1000 znaků.',
      button: 'Uložit heslo',
    },
    changed: {
      title: 'Vaše heslo je změněno',
      text: 'Všude jste byli odhlášeni. Přihlaste se novým heslem.',
    },
    expired: {
      title: 'Tento odkaz už neplatí',
      text: 'Byl už použit nebo je starší než hodina. Vyžádejte si prosím nový e-mail.',
    },
  },
  pl: {
    verify: {
      title: 'Potwierdź swój adres',
      ask: 'Naciśnij przycisk, aby potwierdzić, że ten adres e-mail należy do Ciebie.',
      button: 'Potwierdź adres',
    },
    verified: {
      title: 'Twój adres jest potwierdzony',
      text: 'Twoje konto jest gotowe do użycia. Możesz zamknąć tę stronę.',
    },
    reset: {
      title: 'Ustaw nowe hasło',
      label: 'Nowe hasło',
      rule: 'Od 6 do 1000 znaków.',
      button: 'Zapisz hasło',
    },
    changed: {
      title: 'Twoje hasło zostało zmienione',
      text: 'Nastąpiło wylogowanie ze wszystkich sesji. Zaloguj się nowym hasłem.',
    },
    expired: {
      title: 'Ten link już nie działa',
      text: 'Został już użyty albo ma ponad godzinę. Poproś o nową wiadomość.',
    },
  },
  es: {
    verify: {
      title: 'Confirma tu dirección',
      ask: 'Pulsa el botón para confirmar que esta dirección de correo es tuya.',
      button: 'Confirmar dirección',
    },
    verified: {
      title: 'Tu dirección está confirmada',
      text: 'Tu cuenta está lista. Puedes cerrar esta página.',
    },
    reset: {
      title: 'Elige una contraseña nueva',
      label: 'Contraseña nueva',
      rule: 'Entre 6 y 1000 caracteres.',
      button: 'Guardar contraseña',
    },
    changed: {
      title: 'Tu contraseña ha cambiado',
      text: 'Se han cerrado todas tus sesiones. Inicia sesión con la contraseña nueva.',
    },
    expired: {
      title: 'Este enlace ya no es válido',
      text: 'Ya se usó o tiene más de una hora. Pide un correo nuevo.',
    },
  },
  it: {
    verify: {
      title: 'Conferma il tuo indirizzo',
      ask: 'Premi il pulsante per confermare che questo indirizzo e-mail è tuo.',
      button: 'Conferma l’indirizzo',
    },
    verified: {
      title: 'Il tuo indirizzo è confermato',
      text: 'Il tuo account è pronto. Puoi chiudere questa pagina.',
    },
    reset: {
      title: 'Scegli una nuova password',
      label: 'Nuova password',
      rule: 'Tra 6 e 1000 caratteri.',
      button: 'Salva la password',
    },
    changed: {
      title: 'La tua password è cambiata',
      text: 'Tutte le tue sessioni sono state chiuse. Accedi con la nuova password.',
    },
    expired: {
      title: 'Questo link non è più valido',
      text: 'È già stato usato o ha più di un’ora. Chiedi una nuova e-mail.',
    },
  },
  'zh-TW': {
    verify: {
      title: '確認您的地址',
      ask: '請按下按鈕，確認這個電子郵件地址屬於您。',
      button: '確認地址',
    },
    verified: {
      title: '您的地址已確認',
      text: '您的帳號已可使用。您可以關閉此頁面。',
    },
    reset: {
      title: '設定新密碼',
      label: '新密碼',
      rule: '6 到 1,000 個字元。',
      button: '儲存密碼',
    },
    changed: {
      title: '您的密碼已變更',
      text: '您已從所有裝置登出。請使用新密碼登入。',
    },
    expired: {
      title: '此連結已失效',
      text: '它已被使用，或已超過一小時。請重新要求一封郵件。',
    },
  },
  'zh-HK': {
    verify: {
      title: '確認你的地址',
      ask: '請按下按鈕，確認這個電郵地址屬於你。',
      button: '確認地址',
    },
    verified: {
      title: '你的地址已確認',
      text: '你的帳戶已可使用。你可以關閉此頁面。',
    },
    reset: {
      title: '設定新密碼',
      label: '新密碼',
      rule: '6 至 1,000 個字元。',
      button: '儲存密碼',
    },
    changed: {
      title: '你的密碼已更改',
      text: '你已從所有裝置登出。請使用新密碼登入。',
    },
    expired: {
      title: '此連結已失效',
      text: '它已被使用，或已超過一小時。請重新要求一封電郵。',
    },
  },
  'zh-CN': {
    verify: {
      title: '确认您的地址',
      ask: '请按下按钮，确认这个电子邮件地址属于您。',
      button: '确认地址',
    },
    verified: {
      title: '您的地址已确认',
      text: '您的账号已可使用。您可以关闭此页面。',
    },
    reset: {
      title: '设置新密码',
      label: '新密码',
      rule: '6 到 1,000 个字符。',
      button: '保存密码',
    },
    changed: {
      title: '您的密码已更改',
      text: '您已从所有设备退出登录。请使用新密码登录。',
    },
    expired: {
      title: '此链接已失效',
      text: '它已被使用，或已超过一小时。请重新申请一封邮件。',
    },
  },
  ja: {
    verify: {
      title: 'アドレスの確認',
      ask: 'このメールアドレスがご自分のものであることを、ボタンを押して確認してください。',
      button: 'アドレスを確認',
    },
    verified: {
      title: 'アドレスを確認しました',
      text: 'アカウントをご利用いただけます。このページは閉じてかまいません。',
    },
    reset: {
      title: '新しいパスワードの設定',
      label: '新しいパスワード',
      rule: '6 文字以上 1,000 文字以内。',
      button: 'パスワードを保存',
    },
    changed: {
      title: 'パスワードを変更しました',
      text: 'すべての端末からログアウトしました。新しいパスワードでログインしてください。',
    },
    expired: {
      title: 'このリンクは無効です',
      text: 'すでに使用されたか、1 時間以上経過しています。もう一度メールを請求してください。',
    },
  },
  sv: {
    verify: {
      title: 'Bekräfta din adress',
      ask: 'Tryck på knappen för att bekräfta att den här e-postadressen är din.',
      button: 'Bekräfta adressen',
    },
    verified: {
      title: 'Din adress är bekräftad',
      text: 'Ditt konto är klart att använda. Du kan stänga den här sidan.',
    },
    reset: {
      title: 'Välj ett nytt lösenord',
      label: 'Nytt lösenord',
      rule: 'Mellan 6 och 1 000 tecken.',
      button: 'Spara lösenordet',
    },
    changed: {
      title: 'Ditt lösenord är ändrat',
      text: 'Du har loggats ut överallt. Logga in med det nya lösenordet.',
    },
    expired: {
      title: 'Länken gäller inte längre',
      text: 'Den har redan använts eller är äldre än en timme. Be om ett nytt mejl.',
    },
  },
  cy: {
    verify: {
      title: 'Cadarnhewch eich cyfeiriad',
      ask: 'Pwyswch y botwm i gadarnhau mai chi biau’r cyfeiriad e-bost hwn.',
      button: 'Cadarnhau’r cyfeiriad',
    },
    verified: {
      title: 'Mae eich cyfeiriad wedi’i gadarnhau',
      text: 'Mae eich cyfrif yn barod i’w ddefnyddio. Gallwch gau’r dudalen hon.',
    },
    reset: {
      title: 'Dewiswch gyfrinair newydd',
      label: 'Cyfrinair newydd',
      rule: 'Rhwng 6 a 1,000 o nodau.',
      button: 'Cadw’r cyfrinair',
    },
    changed: {
      title: 'Mae eich cyfrinair wedi’i newid',
      text: 'Rydych wedi’ch allgofnodi ym mhobman. Mewngofnodwch gyda’r cyfrinair newydd.',
    },
    expired: {
      title: 'Nid yw’r ddolen hon yn ddilys mwyach',
      text: 'Mae eisoes wedi’i defnyddio, neu mae’n fwy nag awr oed. Gofynnwch am e-bost newydd.',
    },
  },
}
