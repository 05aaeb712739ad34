-- The words of a text: of its beginning, because PostgreSQL refuses what has too many, and without its notions of
-- what a dot or a slash makes of words (a host, a file), which differ from what people look for in code.
create function words_of(body text) returns tsvector language sql immutable strict parallel safe as $$
  select to_tsvector(
    'simple', translate(left(body, 100000), '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~“”‘’„‚«»…–—·•', repeat(' ', 60))
  )
$$;

create index messages_words on messages using gin (words_of(body));
create index blobs_words on blobs using gin (words_of(content));
