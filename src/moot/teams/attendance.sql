-- said: What was last said of each member.
select name, said from team_attendance where instance = :instance order by name

-- say: Something else is said of one.
insert into team_attendance (instance, name, said, at) values (:instance, :name, :said, :now)
on conflict (instance, name) do update set said = excluded.said, at = excluded.at

-- forget: There is no such team any more.
delete from team_attendance where instance = :instance
